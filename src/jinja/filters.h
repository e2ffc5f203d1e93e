// Filters by what they work on; builtins.cpp has them by name.
#pragma once
#include "jinja/builtins.h"

namespace arion::jinja {

// Text: filters_text.cpp.
Value filter_capitalize(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_center(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_format(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_indent(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_lower(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_replace(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_string(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_title(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_trim(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_truncate(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_upper(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_wordcount(Runtime& runtime, const Value& subject, const Arguments& arguments);

// Layout: filters_wrap.cpp, filters_pretty.cpp.
Value filter_pprint(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_wordwrap(Runtime& runtime, const Value& subject, const Arguments& arguments);

// HTML, URLs and JSON: filters_markup.cpp.
Value filter_escape(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_forceescape(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_safe(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_striptags(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_tojson(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_urlencode(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_xmlattr(Runtime& runtime, const Value& subject, const Arguments& arguments);
// filters_links.cpp
Value filter_urlize(Runtime& runtime, const Value& subject, const Arguments& arguments);

// Numbers and single values: filters_value.cpp.
Value filter_abs(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_attr(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_default(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_filesizeformat(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_float(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_int(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_length(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_round(Runtime& runtime, const Value& subject, const Arguments& arguments);

// Sequences: filters_sequence.cpp.
Value filter_batch(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_first(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_items(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_join(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_last(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_list(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_map(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_random(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_reject(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_rejectattr(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_reverse(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_select(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_selectattr(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_slice(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_sum(Runtime& runtime, const Value& subject, const Arguments& arguments);

// By order and equality: filters_order.cpp.
Value filter_dictsort(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_groupby(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_max(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_min(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_sort(Runtime& runtime, const Value& subject, const Arguments& arguments);
Value filter_unique(Runtime& runtime, const Value& subject, const Arguments& arguments);

}  // namespace arion::jinja
