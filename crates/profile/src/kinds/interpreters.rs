//! Functions of the interpreters of Ruby, PHP and Perl, told by the program or library that they are in. Source: ruby 3.1
//! (gc.c, vm*.c, string.c, regexec.c, ext/json), php 8.2 (Zend/, ext/standard, ext/json, ext/pcre), perl 5.36 (sv.c, pp*.c, regexec.c).

use super::CostKind::*;
use super::Role::*;
use super::lists::Group;

/// Ruby.
pub(super) static RUBY: &[Group] = &[
    (
        Overrides(GarbageCollection),
        &[
            "gc_mark*",
            "gc_sweep*",
            "gc_start*",
            "gc_marks*",
            "gc_page_sweep*",
            "gc_compact*",
            "gc_rest*",
            "gc_continue*",
            "gc_finalize*",
            "rb_gc_mark*",
            "rb_gc_start",
            "rb_mark_*",
            "garbage_collect*",
            "obj_free",
        ],
    ),
    (
        Mechanism(Allocation),
        &[
            "rb_wb_protected_newobj_of",
            "rb_wb_unprotected_newobj_of",
            "rb_ec_wb_protected_newobj_of",
            "newobj_*",
            "rb_newobj*",
            "objspace_*malloc*",
            "objspace_*alloc*",
            "objspace_xfree",
            "ruby_x*alloc*",
            "ruby_xfree",
            "ruby_sized_x*",
            "heap_*",
        ],
    ),
    (
        Absorbs(Locking),
        &[
            "gvl_acquire*",
            "gvl_release*",
            "thread_sched_*",
            "rb_mutex_lock",
            "rb_mutex_unlock",
            "do_mutex_lock",
        ],
    ),
    (
        Purpose(Regex),
        &["onig_*", "onigenc_*", "rb_reg_*", "reg_match*", "match_at", "forward_search*", "backward_search*"],
    ),
    (
        Purpose(Serialization),
        &[
            "generate_json*",
            "cState_*",
            "cParser_*",
            "JSON_parse*",
            "rb_marshal_*",
            "w_object",
            "r_object*",
            "json_*",
        ],
    ),
    (
        Purpose(TextParsing),
        &[
            "rb_str_split*",
            "rb_str_to_inum",
            "rb_str_to_dbl",
            "rb_cstr_to_*",
            "rb_int_parse_cstr",
            "rb_str_each_line",
            "ruby_strtod",
            "rb_str_index*",
        ],
    ),
    (
        Purpose(Formatting),
        &[
            "rb_str_format*",
            "rb_sprintf",
            "rb_fix2str",
            "rb_int2str",
            "rb_big2str*",
            "flo_to_s",
            "rb_strftime*",
            "rb_str_concat_literals",
            "BSD_vfprintf",
        ],
    ),
    (Purpose(Sorting), &["ruby_qsort*", "qs6*", "rb_ary_sort*", "sort_2", "sort_by_cmp", "qsort_r"]),
    (Weak(Hashing), &["rb_hash_*", "st_*", "ar_*", "rb_st_*", "rb_any_hash", "hash_*"]),
    (Weak(TextParsing), &["rb_enc_*", "rb_str_*", "rb_string_*"]),
    (
        Purpose(Compilation),
        &["rb_iseq_compile*", "iseq_compile*", "iseq_peephole*", "yycompile*", "ruby_yyparse"],
    ),
    (Weak(Program), &["vm_exec*", "rb_vm_exec", "vm_call_*", "vm_sendish", "invoke_*"]),
    (Plumbing, &["*"]),
];

/// PHP.
pub(super) static PHP: &[Group] = &[
    (
        Overrides(GarbageCollection),
        &["zend_gc_collect*", "zend_gc_run", "gc_mark_*", "gc_scan*", "gc_collect_*", "gc_possible_root*"],
    ),
    (
        Mechanism(Allocation),
        &[
            "_emalloc*",
            "_efree*",
            "_erealloc*",
            "_ecalloc",
            "_estrdup*",
            "_safe_emalloc*",
            "zend_mm_*",
            "_zend_new_array*",
            "zend_objects_new",
        ],
    ),
    (Purpose(Regex), &["php_pcre_*", "pcre2_*", "pcre_get_compiled_regex*", "zif_preg_*"]),
    (
        Purpose(Serialization),
        &[
            "php_json_*",
            "zif_json_*",
            "php_var_serialize*",
            "php_var_unserialize*",
            "zif_serialize",
            "zif_unserialize",
        ],
    ),
    (
        Purpose(TextParsing),
        &[
            "php_explode*",
            "zif_explode",
            "zif_str_getcsv",
            "php_fgetcsv",
            "zend_strtod",
            "_zend_handle_numeric_str*",
            "php_sscanf*",
            "_zend_get_special_const",
            "strval",
        ],
    ),
    (
        Purpose(Formatting),
        &[
            "smart_str_*",
            "php_sprintf*",
            "php_formatted_print*",
            "zend_dtoa",
            "zend_gcvt",
            "php_gcvt",
            "zend_strpprintf*",
            "zend_long_to_str",
            "concat_function",
            "php_implode",
            "format_converter",
            "xbuf_format_converter",
        ],
    ),
    (Purpose(Sorting), &["zend_sort*", "zend_insert_sort*", "zend_hash_sort*", "php_array_data_compare*"]),
    (Weak(Hashing), &["zend_hash_*", "_zend_hash_*", "zend_string_hash*", "zend_inline_hash*"]),
    (Purpose(Compilation), &["zend_compile*", "zendparse", "lex_scan", "zend_optimize*"]),
    (Weak(Program), &["execute_ex", "zend_execute*", "zend_call_function", "ZEND_*"]),
    (Plumbing, &["*"]),
];

/// Perl, which frees by counting references: it has no collector.
pub(super) static PERL: &[Group] = &[
    (
        Mechanism(Allocation),
        &[
            "Perl_safesys*",
            "Perl_sv_free*",
            "Perl_sv_clear",
            "S_new_sv",
            "Perl_newSV*",
            "Perl_sv_grow*",
            "Perl_more_bodies",
            "Perl_more_sv",
            "Perl_free_tmps",
            "Perl_leave_scope",
        ],
    ),
    (
        Purpose(Regex),
        &[
            "S_regmatch",
            "S_regtry",
            "S_regrepeat",
            "S_find_byclass",
            "S_reg_*",
            "S_regcp*",
            "Perl_regexec*",
            "Perl_pregexec",
            "Perl_re_*",
            "Perl_pregcomp",
            "Perl_reg*",
            "Perl_pp_match",
            "Perl_pp_subst",
        ],
    ),
    (
        Purpose(TextParsing),
        &["Perl_pp_split", "Perl_my_atof*", "Perl_grok_*", "Perl_pp_index", "Perl_fbm_instr", "Perl_sv_gets"],
    ),
    (
        Purpose(Formatting),
        &[
            "Perl_sv_vcatpvfn*",
            "Perl_pp_sprintf",
            "Perl_pp_concat",
            "Perl_pp_multiconcat",
            "Perl_pp_join",
            "Perl_do_join",
            "Perl_sv_2pv*",
        ],
    ),
    (
        Purpose(Sorting),
        &["Perl_sortsv*", "S_mergesortsv*", "S_sortcv*", "S_sv_*cmp*", "S_amagic_*cmp*", "Perl_pp_sort"],
    ),
    (Weak(Hashing), &["Perl_hv_*", "S_hv_*", "S_hsplit", "Perl_pp_helem", "Perl_pp_each", "S_perl_hash*"]),
    (Purpose(Compilation), &["Perl_yyparse", "Perl_yylex", "S_doeval_compile"]),
    (Weak(Program), &["Perl_runops_*", "Perl_pp_*"]),
    (Plumbing, &["*"]),
];
