// Which variable a name means: Jinja decides that before it runs, and so do we.
#pragma once
#include "jinja/ast.h"

namespace arion::jinja {

// Gives every name its slot and every frame its loads, by the rules of jinja2.idtracking. Throws
// Error for filters and tests that do not exist where Jinja refuses to compile them.
void assign_slots(Tree& tree);

}  // namespace arion::jinja
