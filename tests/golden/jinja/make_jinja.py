#!/usr/bin/env python3
"""Writes differential.json: random templates and expressions with what Jinja2 makes of them in the environment of
transformers; layout_and_blocks.json: the same of chosen ones; and hfjs_in_jinja2.json: the unit cases of huggingface.js where JavaScript shows through.
Usage: make_jinja.py TEST_DATA_FOLDER. Needs transformers 5.24.0, jinja2 3.1.6, Python 3.11."""
import copy, json, pathlib, random, re, signal, sys
import jinja2, transformers
from transformers.utils import chat_template_utils

OUT = pathlib.Path(__file__).parent
R = random.Random(7)

VARS={'s':'Hello World','e':'','u':'ÀßΣς ünïcode 你好🚀','n':None,'i':7,'z':0,'neg':-3,'f':2.5,'big':12345678901234567890123,'t':True,'l':[3,1,2],'ls':['b','A','c','a'],'d':{'a':1,'b':'x','items':5},'ld':[{'n':'x','v':2,'k':True},{'n':'Y','v':1},{'n':'z','v':3,'k':False}],'nested':{'a':{'b':[1,{'c':'deep'}]}},'ws':'  pad\n\tded  \n','csv':'a,b,,c','m':'x <b>&"q" \'s\' y','mixed':[1,'a',None,2.5,True,[1,2],{'k':'v'}], 'lf':[1.5,-0.0,1e20,1e-7,100.0,0.1]}
names=list(VARS)+['undef_','loop','i2']
lits=['1','0','-1','2','3','10','"a"',"'b'",'"l"','""','" "','","','"Hello"','none','true','false','1.5','0.1','1e3','[]','{}','()','[1,2,3]','{"a":1}','(1,2)','"x%sy"','"%d"','"{}"','"{0}-{1}"','100000000000000000000','"n"','"v"','0x1F','1_000','"é"','[["a",1],["b",2]]']
flt=['abs','attr("a")','batch(2)|list','capitalize','center(12)','count','default("D")','d("D",true)','dictsort','dictsort(false,"value")','e','escape','filesizeformat','first','float','forceescape','format(1)','format("q")','groupby("v")','indent','indent(2,true)','indent(width=3,blank=true)','int','int(5)','int(base=16)','join','join(",")','join("-","n")','last','length','list','lower','items|list','map("upper")|list','map(attribute="n")|list','map(attribute="n",default="?")|list','min','max','min(attribute="v")','max(attribute="n")','reject("odd")|list','rejectattr("k")|list','replace("l","L")','replace("a","b",1)','reverse','reverse|list','round','round(1)','round(2,"ceil")','round(0,"floor")','round(-1)','safe','select|list','select("string")|list','select("gt",1)|list','selectattr("k")|list','selectattr("v","gt",1)|list','selectattr("n","equalto","x")|map(attribute="v")|list','slice(2)|list','slice(3,"F")|list','sort','sort(true)','sort(attribute="v")','sort(attribute="n,v",reverse=true)','sort(case_sensitive=true)','string','striptags','sum','sum("v")','sum(attribute="v",start=1)','title','tojson','tojson(indent=2)','tojson(sort_keys=true)','tojson(ensure_ascii=true)','tojson(separators=(",",":"))','trim','trim("Hd ")','truncate(7)','truncate(5,true)','truncate(9,false,"..")','unique|list','upper','urlencode','wordcount','xmlattr','string|length','list|length','join|upper','first|string','last|string', 'batch(3,"f")|list']
tests=['defined','undefined','none','string','number','integer','float','boolean','true','false','mapping','sequence','iterable','callable','odd','even','lower','upper','divisibleby 3','divisibleby(2)','eq 1','ne(1)','gt 1','lt 2','ge 1','le 1','in [1,2]','in "abc"','in l','sameas none','sameas true','escaped','filter','test','equalto "a"','not defined','not none']
meth=['upper()','lower()','strip()','lstrip()','rstrip()','strip("Hd")','split()','split(",")','split(" ",1)','rsplit(" ",1)','rsplit(none,1)','split("l")[-1]','startswith("H")','endswith("d")','startswith(("a","H"))','replace("l","")','replace("","-")','title()','capitalize()','swapcase()','casefold()','find("o")','rfind("o")','index("l")','count("l")','count("")','join(ls)','join(["x","y"])','isdigit()','isalpha()','isupper()','islower()','isspace()','isalnum()','istitle()','isnumeric()','isidentifier()','zfill(15)','center(15,"*")','center(14)','ljust(13,".")','rjust(13)','partition("o")','rpartition("o")','splitlines()','splitlines(true)','expandtabs(4)','removeprefix("He")','removesuffix("ld")','format(1,2)','format("a",b=2)','format(i)','items()','keys()','values()','get("a")','get("zz")','get("zz",3)','items()|list','keys()|list','values()|list','append(1)','pop()','update({})','index(1)','count(1)','a','b','n','items','a.b','real','__class__','foo','x.y','copy()','bit_length()','is_integer()']
subs=['[0]','[-1]','[1]','[99]','["a"]','["b"]','["items"]','[1:]','[:-1]','[::-1]','[::2]','[-3:]','[1:3]','[5:1:-1]','[n]','["upper"]','[true]','[1.5]','[:z]','[-2::-1]','[::-2]','[i:]','[:2:1]','[::0]','[10:-10:-3]']
fmts=['"%s"','"%d"','"%5d|%-5s|"','"%05.1f"','"%x"','"%+d"','"%r"','"%.3s"','"%c"','"%%"','"%(a)s"','"%e"','"%g"','"%i items"','"%o"','"%#x"','"% d"','"%5.2f%%"','"%.0f"','"%10s|"','"%X"','"%08.3e"','"%.10g"']
bf=['"{}"','"{0}{0}"','"{:>8}"','"{:<8}|"','"{:^9}"','"{:05d}"','"{:.2f}"','"{:,}"','"{:x}"','"{!r}"','"{:e}"','"{:.3}"','"{a}"','"{0.a}"','"{0[a]}"','"{:*^10}"','"{:+}"','"{:%}"','"{:_}"','"{:g}"','"{:#x}"','"{:b}"','"{{}}"','"{:.1%}"','"{:10.3f}|"','"{:08.2f}"','"{0:{1}}"','"{!s:>5}"','"{:c}"','"{:n}"','"{:=+8}"','"{:.0f}"','"{:,.2f}"','"{:.5g}"','"{:.10}"']
ops=['+','-','*','/','//','%','**','~','==','!=','<','>','<=','>=','in','not in','and','or']
def E(k=0):
    r=R.random()
    if k>3 or r<.28: return R.choice(names) if R.random()<.72 else R.choice(lits)
    if r<.44: return f'{E(k+1)}|{R.choice(flt)}' if R.random()<.7 else f'({E(k+1)})|{R.choice(flt)}'
    if r<.54: return f'({E(k+1)}).{R.choice(meth)}' if R.random()<.4 else f'{R.choice(names)}.{R.choice(meth)}'
    if r<.62: return f'({E(k+1)}){R.choice(subs)}' if R.random()<.4 else f'{R.choice(names)}{R.choice(subs)}'
    if r<.74: return f'({E(k+1)} {R.choice(ops)} {E(k+1)})' if R.random()<.8 else f'{E(k+1)} {R.choice(ops)} {E(k+1)}'
    if r<.80: return f'({E(k+1)} is {R.choice(tests)})'
    if r<.83: return f'({E(k+1)} if {E(k+1)} else {E(k+1)})'
    if r<.85: return f'({E(k+1)} if {E(k+1)})'
    if r<.87: return f'not {E(k+1)}'
    if r<.89: return f'-{E(k+1)}'
    if r<.92: return f'({R.choice(fmts)} % {R.choice(["("+E(k+1)+",)","("+E(k+1)+","+E(k+1)+")",E(k+1)])})'
    if r<.95: return f'{R.choice(bf)}.format({E(k+1)}{R.choice(["",","+E(k+1),",a="+E(k+1)])})'
    if r<.97: return f'[{E(k+1)},{E(k+1)}]'
    if r<.98: return f'{{{E(k+1)}: {E(k+1)}}}'
    return f'range({E(k+1)})|list' if R.random()<.5 else f'dict(a={E(k+1)})'
ws=['','-','','','+']
def W(): return R.choice(['',' ','\n','  \n ','\n\n','x','  x ','\t','\n  '])
def tag(s): return '{%'+R.choice(ws)+' '+s+' '+R.choice(['','-','','','+'])+'%}'
def S(k=0):
    r=R.random()
    if k>3 or r<.3: return '{{'+R.choice(['','-',''])+' '+E(1)+' '+R.choice(['','-',''])+'}}'
    if r<.42: return W()
    B=lambda: ''.join(S(k+1)+W() for _ in range(R.randint(1,3)))
    v=R.choice(['x','y','i','s','loop2','q'])
    if r<.5: return tag(f'set {v} = {E(1)}')
    if r<.62: return tag(f'for {v} in {R.choice(["l","ls","ld","d","range(3)","s","undef_","d.items()","nested|items","mixed",E(2)])}{R.choice([""," if "+v, " if "+E(2)," "])}')+B()+R.choice(['','{{ loop.index }}{{ loop.last }}','{{ loop.previtem }}','{{ loop.length }}|{{ loop.revindex }}','{{ loop.cycle("a","b") }}','{% if loop.first %}{% continue %}{% endif %}','{% if loop.index > 1 %}{% break %}{% endif %}','{{ loop.changed(i) }}{{ loop.nextitem }}'])+R.choice(['',tag('else')+B()])+tag('endfor')
    if r<.74: return tag(f'if {E(2)}')+B()+R.choice(['',tag('else')+B(),tag(f'elif {E(2)}')+B()])+tag('endif')
    if r<.80: return tag(f'macro {v}(a, b={E(3)})')+B()+R.choice(['','{{ a }}{{ b }}','{{ caller() if caller }}','{{ varargs }}{{ kwargs }}'])+tag('endmacro')+'{{ '+v+'('+E(3)+R.choice(['',',b='+E(3),',2,3',',z=1'])+') }}'
    if r<.84: return tag(f'set {v}'+R.choice(['','|upper','|trim|length']))+B()+tag('endset')+'{{ '+v+' }}'
    if r<.88: return tag('set ns = namespace(a='+E(3)+')')+tag('for q in l')+tag('set ns.a = '+R.choice(['ns.a ~ q','ns.a + q','[ns.a, q]',E(3)]))+tag('endfor')+'{{ ns.a }}'
    if r<.91: return tag(f'with {v} = {E(2)}')+B()+tag('endwith')
    if r<.93: return tag('filter '+R.choice(['upper','trim','replace("a","b")','indent(2)']))+B()+tag('endfilter')
    if r<.95: return '{#'+R.choice(['','-'])+' c '+R.choice(['','-'])+'#}'
    if r<.97: return tag('raw')+'{{ x }}{% y %}'+tag('endraw')
    if r<.98: return tag('generation')+B()+tag('endgeneration')
    return tag(f'macro m(a)')+'<{{ caller(a) }}>'+tag('endmacro')+tag('call(w) m('+E(3)+')')+B()+'{{ w }}'+tag('endcall')

def render(template, variables):
    try:
        return chat_template_utils._compile_jinja_template(template).render(**variables)
    except Exception as error:
        return f"error: {type(error).__name__}: {error}"

# Not the same in every run, or Python's names of its own things.
UNSTABLE = re.compile(r" at 0x[0-9a-f]+>|built-in|dict_|bound method|<function|<class|reverseiterator|complex|RecursionError")

def cases(count):
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
    found = []
    while len(found) < count:
        template = '{{ ' + E() + ' }}' if R.random() < .5 else ''.join(S() for _ in range(R.randint(1, 3)))
        if len(template) > 600 or '**' in template:
            continue
        signal.alarm(3)
        expected = render(template, copy.deepcopy(VARS))  # `list|indent` changes the list
        signal.alarm(0)
        # Python folds constants like (1)[0] when it compiles a template, and forgives what it cannot fold.
        if UNSTABLE.search(expected) or len(expected) > 600 or re.search(r"\)\[|LoopContext", template + expected):
            continue
        if expected.startswith('error') and R.random() < .6:
            continue
        found.append({"template": template, "expected": expected})
    return found

# What a template without a loader may do, and filters whose output is laid out by Python.
TEXTS = ['s','u','ws','csv','m','big','l','nested','"Look, goof-ball -- use the -b option! well-known--dash x--y a-b-c-d-e e-mail"','"a\\n\\n  b c\\r\\nlong line of words, with several of them."','"supercalifragilisticexpialidocious-and-more-hyphenated_words 1-2 12-ab --foo ----"','"one  two   three    \\t four\\xa0\\xa0five "','("ab-" * 20)','("-" * 30 ~ " " ~ "x" * 30)','"你好 世界 好好学习天天向上 ünïcödé-wörter"','""','"   "','"aaaa bbbbbbbbbbbb"','"\\u2003x \\u2003 y"','undef_','i','"a\\x0bb\\x0cc d"']
WRAPS = ['','(5)','(10)','(1)','(3, false)','(12, true, "|")','(width=9, break_on_hyphens=false)','(7, false, "<br>", false)','(20, wrapstring="\\n\\n")','(0)','(8, break_on_hyphens=1)','(8, break_on_hyphens=0)','(4, none)']
URLS = ['http://example.com','(see https://www.example.com/a_(b)?x=1&y=2).','www.python.org, foo.com. bar.xyz x.info/','<http://a.b/c>','HTTP://UP.COM/X WWW.Up.Com','http://localhost:8000/path http://1.2.3.4:80 http://[::1]/x http://[1:2:3:4:5:6:7:8] http://[12345:1::]','me@example.com mailto:you@ex-ample.co.uk @a@b.c me@x a@b.c. (a@b.org)','ftp://x.y/z tel:123 magnet:?xt=1','http://x http://xx http://x.y http://xn--abc.xn--p1ai http://a..b.com .com a.com ab.com','"http://q.com" \'http://q.com\' http://ü.com/ü?ü#ü münchen.de münchen.com','((http://a.com)) (http://a.com/(b)) http://a.com/(b http://a.com)b) &lt;','http://ex.com:123456 http://ex.com:12a http://ex.com:80/ ex.com:80 ex.com:','line one\nhttp://two.com\n\n  three.com\t.','http:// https://. www. www.a www.aa','http://a.com,.),( http://a.com>>> <<http://a.com>>','a%20b.com http://a%.com/ http://-.com','http://verylonghost.example.com/with/a/long/path?and=query#fragment','']
LINKS = ['','(10)','(0)','(-3)','(nofollow=true)','(15, true, "_blank")','(target="<x>", rel="b a noopener")','(extra_schemes=["ftp://", "tel:", "magnet:"])','(extra_schemes=["x"])','(rel="")','(true)']
VALUES = ['s','u','n','i','f','big','t','l','ls','d','ld','nested','ws','csv','m','mixed','lf','""','[]','{}','()','(1,)','[[]]','undef_','[s] * 9','(s,) * 8','[ld, nested, mixed]','{"b": l * 20, "a": s * 9, "c": {"z": ls * 9, "y": 1.5}}','s * 12','(s ~ " word\\n") * 5','("x" * 100)','["x" * 90, "y z " * 30]','{"k" * 40: "v w " * 20, "j": ["a b" * 30]}','{1: "a" * 50, "b": 2, none: 3, 2.5: "c" * 30, true: 1}','("q\'" * 60)','(" a\\tb\\u200b" * 20)','[(("deep " * 5,),)] * 3','[[[[[["deep " * 16]]]]]]','("a" * 79, )','["a" * 76]','["a" * 77]','{"a": "b" * 74}','ld * 4','{"tools": [{"type": "function", "function": {"name": "get_weather", "description": "Get the current weather in a given location, with a long text", "parameters": {"type": "object", "properties": {"location": {"type": "string"}}}}}]}','d.items()','range(3)','("你好 " * 40)','[none, true, false] * 8','ld|groupby("n")','"<b>"|safe','"a\\n\\nb" * 20','" " * 100','{(2, 1): 1, (1, 5): "x" * 90}']
TAGS = ["{% include 'a' %}","{% include 'a' ignore missing %}","{% include ['a','b'] without context %}","{% include [] %}","a{% include [] ignore missing %}b","{% include i %}","{% include undef_ with context %}","{% import 'a' as b %}","{% import 1/0 as b %}","{% import 'a' %}","{% from 'a' import b, c as d %}","{% from 'a' import b with context %}","{% from 'a' import b, c, without context %}","{% from 'a' import _b %}","{% from 'a' import %}","{% from 'a' imp %}","{% extends 'x' %}","x{% extends 'x' %}{% block a %}{% endblock %}","{% if z %}{% include 'x' %}{% elif z %}{% extends 'x' %}{% else %}ok{% endif %}","{% for q in l %}{% extends 'x' %}{% endfor %}","{% macro m() %}{% extends 'x' %}{% endmacro %}a","{% macro m() %}{% include 'x' %}{% import 'a' as b %}{% endmacro %}a","{% macro m() %}{% include 'x' %}{% endmacro %}{{ m() }}","{% if z %}{% import 'a' as s %}{% from 'b' import i as f, u %}{% endif %}{{ s }}{{ i }}{{ f }}{{ u }}","{% for q in l %}{% if z %}{% import 'a' as s %}{% endif %}{{ s }}{% endfor %}","{% include 'x','y' %}","{% block a %}{{ self.a() if z }}{{ self.name }}B{% endblock %}{{ self.a() }}","{% block a %}{{ super() }}{% endblock %}","{% block a %}{{ super }}|{{ super is defined }}{% endblock %}{{ super }}","{% block a %}{% macro m() %}{{ super is defined }}{{ super() }}{% endmacro %}{{ m() }}{% endblock %}","{{ self }}{{ self.zz }}{{ self is defined }}{{ self.q is defined }}","{{ self.zz() }}","{% for q in l %}{% block a scoped %}{{ q }}{{ loop.index }}{% endblock %}{% endfor %}","{% for q in l %}{% block a %}{{ q }}{{ i }}{% endblock %}{% endfor %}","{% block a required %}{% endblock %}","{% block a scoped required %} {# x #}\n{% endblock %}","{% block a required %}x{% endblock %}","{% if z %}{% block a required %} {% endblock %}{% endif %}[{{ self.a() }}]","{% block a-b %}{% endblock %}","{% block a %}1{% endblock b %}","{% block a %}1{% endblock a %}","{% block a %}{% endblock %}{% block a %}{% endblock %}","{% block a %}{% set i=1 %}{{ i }}{% endblock %}{{ i }}","{% set i=3 %}{% block a %}{{ i }}{% set i=4 %}{% endblock %}{{ self.a() }}","{% block a %}{{ i }}{% endblock %}{% set i=3 %}{{ self.a() }}","{% if z %}{% set i=3 %}{% endif %}{% block a %}{{ i }}{% endblock %}","{% block a %}{% block b %}{{ s }}{% endblock %}{{ self.b()|upper }}{% endblock %}","{% macro m() %}{{ self.b() }}{% endmacro %}{{ m() }}{% block b %}B{{ i }}{% endblock %}","{% for q in l %}{{ self.a() }}{% endfor %}{% for s in l %}{% block a scoped %}<{{ s }}>{% endblock %}{% endfor %}","{% with w = 1 %}{% block a scoped %}{{ w }}{% for q in l %}{% block b scoped %}{{ q }}{{ w }}{% endblock %}{% endfor %}{% endblock %}{% endwith %}{{ self.b() }}","{% block a %}{% for q in l %}{{ q }}{% endfor %}{{ loop }}{% endblock %}","{% block a %}{{ self.a() }}{% endblock %}","{% set self = 3 %}{{ self }}","{% block a %}{% set super = 3 %}{{ super }}{% endblock %}","{{ self.a(1) }}{% block a %}{% endblock %}","{{ 'random' is filter }}{{ lipsum is defined }}{{ lipsum is callable }}{{ 'urlize' is filter }}","{{ i|wordwrap }}","{{ (m|safe)|wordwrap(4) }}{{ (m|safe)|urlize }}","{% filter wordwrap(6) %}some words here{% endfilter %}","{% set x | pprint %}some\nwords{% endset %}{{ x }}","{% macro m(q) %}{% block a scoped %}{{ q }}{% endblock %}{% endmacro %}{{ m(5) }}{{ self.a() }}"]
FIXED = ([f'{{{{ {t}|wordwrap{w} }}}}' for t in TEXTS for w in WRAPS]
         + [f'{{{{ {json.dumps(u)}|urlize{a} }}}}' for u in URLS for a in LINKS]
         + [f'{{{{ {v}|pprint }}}}' for v in VALUES] + TAGS)

def fixed_cases():
    rendered = [(template, render(template, copy.deepcopy(VARS))) for template in FIXED]
    return [{"template": t, "expected": e} for t, e in rendered if not re.search(r" at 0x|RecursionError|<class", e)]

def write(name, content):
    content = {"made_with": {"jinja2": jinja2.__version__, "transformers": transformers.__version__}, **content}
    (OUT / name).write_text(json.dumps(content, ensure_ascii=False, indent=0) + "\n")

# Variables as text: no JSON library on the way may round the big integer.
write("differential.json", {"variables": json.dumps(VARS), "cases": cases(500)})
write("layout_and_blocks.json", {"variables": json.dumps(VARS), "cases": fixed_cases()})

FUNCTIONS = {"add": lambda x, y: x + y, "func": lambda *a: len(a), "obj": {"x": lambda *a: "".join(a), "z": {"A": lambda *a: "_".join(a)}}}
units = json.loads((pathlib.Path(sys.argv[1]) / "data/chat/hfjs_jinja_unit.json").read_text())
changed = {}
for name, unit in units.items():
    context = {k: FUNCTIONS[k] if "<<function" in json.dumps(v) and k in FUNCTIONS else v for k, v in unit["context"].items()}
    if (text := render(unit["template"], {**context, **({"x": "A", "y": "B"} if name == "OBJ_METHODS" else {})})) != unit["expected"]:
        changed[name] = text
# Accepted by Python from 3.13 on.
changed.pop("REPLACE", None)
write("hfjs_in_jinja2.json", {"cases": changed})
