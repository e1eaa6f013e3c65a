"""Makes the compiled policies faster: other code for sixteen small functions of OPA's runtime, with the same results.

OPA compiles the rules beside a runtime in C that comes with it (github.com/open-policy-agent/opa, wasm/src). Nine
tenths of an evaluation are spent there, and most of that with two things. Rules read fields of objects by names that
are constants; the runtime hashes the name each time, and compares it byte by byte. And it remembers the value of each
rule in a map from numbers, which grows and hashes. The new code

* keeps the hash of a constant name in the two bytes of `opa_string_t` that nothing uses, and compares eight bytes at
  once (`opa_value_get`, `opa_strncmp`);
* takes entries of lists directly, and finds the next entry of a small set or object by the address of the one before,
  without hashing it (`opa_value_iter`), and so the entry of a small set that a loop has reached (`opa_value_get`);
* looks a text up in a set by its hash, instead of comparing it with all entries (`builtin_member`);
* compares objects with the same keys without sorting these (`opa_value_compare_object`);
* adds and multiplies whole numbers of 32 bits without a library for decimal numbers (`opa_arith_plus`,
  `opa_arith_minus`, `opa_arith_multiply`, `opa_agg_sum`);
* takes a small block from the end of the heap, unless one of its size was freed (`opa_malloc`);
* reads eight letters of a JSON string at once, leaves strings without escapes where they are in the document, and reads
  small numbers without a copy of their text (`opa_json_lex_read_string`, `opa_json_parse_token`);
* hashes strings with a multiplication (`opa_value_hash`);
* remembers values of rules in an array (`opa_memoize_init`, `opa_memoize_get`, `opa_memoize_insert`).

And it leaves out checks and mutations that a site does not want: `usher_leave_out` takes the address of a table with a
byte for each of their numbers, and one whose byte is not 0 finds or wants nothing.

Objects keep their order, because hashes stay the same. The functions that are replaced have to be those that this
module knows: `scripts/policies` fails when another OPA has others.
"""

import ctypes
import hashlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import wasmtime

_FUNCTION, _GLOBAL, _EXPORT, _CODE, _DATA, _CUSTOM = 3, 6, 7, 10, 11, 0
_IMPORT: Final = 2

KNOWN: Final = {
    "opa_value_get": "11886defce67010a",
    "opa_value_iter": "8f90a1da78792830",
    "opa_malloc": "9a1191664e2768f6",
    "opa_strncmp": "c3307faca7d09de9",
    "opa_json_lex_read_string": "ecabdc6aa4ccd82d",
    "opa_json_parse_token": "227de059c5aa52ae",
    "opa_value_hash": "515e69618152c356",
    "builtin_member": "ac5aff59de280de4",
    "opa_value_compare_object": "7f6df5b73155bdff",
    "opa_arith_plus": "b3bcdee42de2c18e",
    "opa_arith_minus": "50a99b365239c7db",
    "opa_arith_multiply": "e6f0c552e65bd776",
    "opa_agg_sum": "4e8cb8fe29ee0bbd",
    "opa_memoize_init": "79da65e74229e15f",
    "opa_memoize_get": "1cee11785a6ad2f4",
    "opa_memoize_insert": "b477508bcff8eaaa",
}
"""Digests of the code that is replaced, without the numbers that differ from module to module."""

# opa_value_t begins with its type. String: length at 4, address at 8. Object: buckets at 4, their number at 8. An entry
# of a bucket: key, value, next (wasm/src/value.h).
_VALUE_GET: Final = """
(func (param $object i32) (param $key i32) (result i32)
  (local $entry i32) (local $hash i32) (local $buckets i32) (local $length i32) (local $other i32)
  (local $here i32) (local $there i32) (local $left i32)
  (block $slow
    (br_if $slow (i32.eqz (local.get $object)))
    (if (i32.eq (i32.load8_u (local.get $object)) (i32.const 5))
      (then
        (br_if $slow (i32.ne (i32.load16_u (local.get $key)) (i32.const 0x103)))
        (if (i64.ge_u (i64.load offset=8 (local.get $key)) (i64.load32_u offset=8 (local.get $object)))
          (then (return (i32.const 0))))
        (return
          (i32.load offset=4
            (i32.add
              (i32.load offset=4 (local.get $object))
              (i32.shl (i32.load offset=8 (local.get $key)) (i32.const 3)))))))
    (if (i32.eq (i32.load8_u (local.get $object)) (i32.const 7))
      (then
        (local.set $left (i32.load offset=8 (local.get $object)))
        (br_if $slow (i32.gt_u (local.get $left) (i32.const 32)))
        (local.set $buckets (i32.load offset=4 (local.get $object)))
        (loop $bucket
          (local.set $entry (i32.load (local.get $buckets)))
          (block $last
            (loop $entries
              (br_if $last (i32.eqz (local.get $entry)))
              (if (i32.eq (i32.load (local.get $entry)) (local.get $key)) (then (return (local.get $key))))
              (local.set $entry (i32.load offset=4 (local.get $entry)))
              (br $entries)))
          (local.set $buckets (i32.add (local.get $buckets) (i32.const 4)))
          (br_if $bucket (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
        (br $slow)))
    (br_if $slow (i32.ne (i32.load8_u (local.get $object)) (i32.const 6)))
    (br_if $slow (i32.ge_u (local.get $key) (i32.const {constants_end})))
    (br_if $slow (i32.ne (i32.load8_u (local.get $key)) (i32.const 8)))
    (local.set $buckets (i32.load offset=8 (local.get $object)))
    (br_if $slow (i32.gt_u (i32.sub (local.get $buckets) (i32.const 1)) (i32.const 65535)))
    (br_if $slow (i32.and (local.get $buckets) (i32.sub (local.get $buckets) (i32.const 1))))
    (if (i32.eqz (local.tee $hash (i32.load16_u offset=2 (local.get $key))))
      (then
        (local.set $hash (call {hash} (local.get $key)))
        (i32.store16 offset=2 (local.get $key) (local.get $hash))))
    (local.set $entry
      (i32.load
        (i32.add
          (i32.load offset=4 (local.get $object))
          (i32.shl
            (i32.and (local.get $hash) (i32.sub (local.get $buckets) (i32.const 1)))
            (i32.const 2)))))
    (local.set $length (i32.load offset=4 (local.get $key)))
    (block $absent
      (loop $next
        (br_if $absent (i32.eqz (local.get $entry)))
        (block $differs
          (local.set $other (i32.load (local.get $entry)))
          (br_if $differs (i32.ne (i32.and (i32.load8_u (local.get $other)) (i32.const 0xf3)) (i32.const 0)))
          (br_if $differs (i32.ne (i32.load offset=4 (local.get $other)) (local.get $length)))
          (local.set $here (i32.load offset=8 (local.get $key)))
          (local.set $there (i32.load offset=8 (local.get $other)))
          (local.set $left (local.get $length))
          (if (i32.ge_u (local.get $length) (i32.const 8))
            (then
              (loop $eight
                (br_if $differs (i64.ne (i64.load (local.get $here)) (i64.load (local.get $there))))
                (local.set $here (i32.add (local.get $here) (i32.const 8)))
                (local.set $there (i32.add (local.get $there) (i32.const 8)))
                (local.set $left (i32.sub (local.get $left) (i32.const 8)))
                (br_if $eight (i32.gt_u (local.get $left) (i32.const 8))))
              (local.set $left (i32.sub (local.get $left) (i32.const 8)))
              (br_if $differs
                (i64.ne
                  (i64.load (i32.add (local.get $here) (local.get $left)))
                  (i64.load (i32.add (local.get $there) (local.get $left))))))
            (else
              (br_if $slow
                (i32.ge_u (i32.add (local.get $there) (i32.const 8)) (i32.load (i32.const {heap_top}))))
              (br_if $differs
                (i32.and
                  (i32.ne (local.get $length) (i32.const 0))
                  (i64.ne
                    (i64.shl
                      (i64.xor (i64.load (local.get $here)) (i64.load (local.get $there)))
                      (i64.sub
                        (i64.const 64)
                        (i64.shl (i64.extend_i32_u (local.get $length)) (i64.const 3))))
                    (i64.const 0))))))
          (return (i32.load offset=4 (local.get $entry))))
        (local.set $entry (i32.load offset=8 (local.get $entry)))
        (br $next)))
    (return (i32.const 0)))
  (return (call {original} (local.get $object) (local.get $key))))
"""

_VALUE_ITER: Final = """
(func (param $list i32) (param $key i32) (result i32)
  (local $next i64)
  (local $buckets i32) (local $end i32) (local $entry i32) (local $following i32) (local $found i32)
  (block $slow
    (br_if $slow (i32.eqz (local.get $list)))
    (if (i32.ne (i32.load8_u (local.get $list)) (i32.const 5))
      (then
        (br_if $slow (i32.gt_u (i32.sub (i32.load8_u (local.get $list)) (i32.const 6)) (i32.const 1)))
        (if (i32.eqz (i32.load offset=12 (local.get $list))) (then (return (i32.const 0))))
        (br_if $slow (i32.gt_u (i32.load offset=8 (local.get $list)) (i32.const 32)))
        (local.set $following
          (select (i32.const 8) (i32.const 4) (i32.eq (i32.load8_u (local.get $list)) (i32.const 6))))
        (local.set $buckets (i32.load offset=4 (local.get $list)))
        (local.set $end
          (i32.add (local.get $buckets) (i32.shl (i32.load offset=8 (local.get $list)) (i32.const 2))))
        (local.set $found (i32.eqz (local.get $key)))
        (loop $bucket
          (local.set $entry (i32.load (local.get $buckets)))
          (block $last
            (loop $entries
              (br_if $last (i32.eqz (local.get $entry)))
              (if (local.get $found) (then (return (i32.load (local.get $entry)))))
              (local.set $found (i32.eq (i32.load (local.get $entry)) (local.get $key)))
              (local.set $entry (i32.load (i32.add (local.get $entry) (local.get $following))))
              (br $entries)))
          (local.set $buckets (i32.add (local.get $buckets) (i32.const 4)))
          (br_if $bucket (i32.lt_u (local.get $buckets) (local.get $end))))
        (br_if $slow (i32.eqz (local.get $found)))
        (return (i32.const 0))))
    (if (local.get $key)
      (then
        (br_if $slow (i32.ne (i32.load16_u (local.get $key)) (i32.const 0x103)))
        (local.set $next (i64.add (i64.load offset=8 (local.get $key)) (i64.const 1)))))
    (if (i64.ge_u (local.get $next) (i64.load32_u offset=8 (local.get $list)))
      (then (return (i32.const 0))))
    (return
      (i32.load
        (i32.add
          (i32.load offset=4 (local.get $list))
          (i32.shl (i32.wrap_i64 (local.get $next)) (i32.const 3))))))
  (return (call {original} (local.get $list) (local.get $key))))
"""

_ADDRESSES: Final = {"free_16": 119296, "free_64": 119328, "heap_pointer": 119712, "heap_top": 119716}
"""Variables of `malloc.c` in this runtime; the digest of `opa_malloc` includes the addresses that it uses."""

# A list of free blocks of one size (wasm/src/malloc.c): that size at 4, the first block at 16, its end at 20. A block
# begins with its size and two addresses that are 0 while it is in use.
_MALLOC: Final = """
(func (param $size i32) (result i32)
  (local $list i32) (local $block i32) (local $end i32)
  (block $slow
    (br_if $slow (i32.gt_u (local.get $size) (i32.const 64)))
    (local.set $list (i32.const {free_64}))
    (local.set $end (i32.const 76))
    (if (i32.le_u (local.get $size) (i32.const 16))
      (then
        (br_if $slow (i32.le_u (local.get $size) (i32.const 8)))
        (local.set $list (i32.const {free_16}))
        (local.set $end (i32.const 28))))
    (br_if $slow
      (i32.ne (i32.load offset=16 (local.get $list)) (i32.add (local.get $list) (i32.const 20))))
    (local.set $block (i32.load (i32.const {heap_pointer})))
    (local.set $end (i32.add (local.get $block) (local.get $end)))
    (br_if $slow (i32.ge_u (local.get $end) (i32.load (i32.const {heap_top}))))
    (i32.store (i32.const {heap_pointer}) (local.get $end))
    (i64.store align=4 (local.get $block) (i64.extend_i32_u (i32.load offset=4 (local.get $list))))
    (i32.store offset=8 (local.get $block) (i32.const 0))
    (return (i32.add (local.get $block) (i32.const 12))))
  (return (call {original} (local.get $size))))
"""

_STRNCMP: Final = """
(func (param $here i32) (param $there i32) (param $left i32) (result i32)
  (local $one i32) (local $other i32)
  (block $rest
    (loop $eight
      (br_if $rest (i32.lt_u (local.get $left) (i32.const 8)))
      (br_if $rest (i64.ne (i64.load (local.get $here)) (i64.load (local.get $there))))
      (local.set $here (i32.add (local.get $here) (i32.const 8)))
      (local.set $there (i32.add (local.get $there) (i32.const 8)))
      (local.set $left (i32.sub (local.get $left) (i32.const 8)))
      (br $eight)))
  (block $equal
    (loop $next
      (br_if $equal (i32.eqz (local.get $left)))
      (local.set $one (i32.load8_u (local.get $here)))
      (local.set $other (i32.load8_u (local.get $there)))
      (if (i32.lt_u (local.get $one) (local.get $other)) (then (return (i32.const -1))))
      (if (i32.gt_u (local.get $one) (local.get $other)) (then (return (i32.const 1))))
      (local.set $here (i32.add (local.get $here) (i32.const 1)))
      (local.set $there (i32.add (local.get $there) (i32.const 1)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br $next)))
  (i32.const 0))
"""

# The lexer (opa_json_lex of wasm/src/json.h): the text at 0, its length at 4, start and end of the token at 8 and 12,
# and the place at 16. A token that is a number is 5, and a string without escapes 6.
_LEX_STRING: Final = """
(func (param $lexer i32) (result i32)
  (local $start i32) (local $at i32) (local $end i32) (local $eight i64)
  (block $slow
    (local.set $at (i32.load offset=16 (local.get $lexer)))
    (br_if $slow (i32.ne (i32.load8_u (local.get $at)) (i32.const 34)))
    (local.set $end (i32.add (i32.load (local.get $lexer)) (i32.load offset=4 (local.get $lexer))))
    (local.set $start (local.tee $at (i32.add (local.get $at) (i32.const 1))))
    (loop $next
      (br_if $slow (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $end)))
      (local.set $eight (i64.load align=1 (local.get $at)))
      (local.set $eight
        (i64.and
          (i64.or
            (i64.or
              (local.get $eight)
              (i64.add (i64.and (local.get $eight) (i64.const 0x7f7f7f7f7f7f7f7f)) (i64.const 0x0101010101010101)))
            (i64.or
              (i64.sub (local.get $eight) (i64.const 0x2020202020202020))
              (i64.or
                (i64.sub
                  (i64.xor (local.get $eight) (i64.const 0x2222222222222222))
                  (i64.const 0x0101010101010101))
                (i64.sub
                  (i64.xor (local.get $eight) (i64.const 0x5c5c5c5c5c5c5c5c))
                  (i64.const 0x0101010101010101)))))
          (i64.const 0x8080808080808080)))
      (if (i64.eqz (local.get $eight))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br $next)))
      (local.set $at
        (i32.add (local.get $at) (i32.shr_u (i32.wrap_i64 (i64.ctz (local.get $eight))) (i32.const 3)))))
    (br_if $slow (i32.ne (i32.load8_u (local.get $at)) (i32.const 34)))
    (i32.store offset=8 (local.get $lexer) (local.get $start))
    (i32.store offset=12 (local.get $lexer) (local.get $at))
    (i32.store offset=16 (local.get $lexer) (i32.add (local.get $at) (i32.const 1)))
    (return (i32.const 6)))
  (return (call {original} (local.get $lexer))))
"""

# The text stays where it is for the whole evaluation, so a string need not be copied from it. A number of more than
# nine digits stays a text: the runtime computes other numbers with 32 bits.
_PARSE_TOKEN: Final = """
(func (param $lexer i32) (param $token i32) (result i32)
  (local $at i32) (local $end i32) (local $string i32) (local $digit i32) (local $number i32)
  (local.set $at (i32.load offset=8 (local.get $lexer)))
  (local.set $end (i32.load offset=12 (local.get $lexer)))
  (if (i32.eq (local.get $token) (i32.const 6))
    (then
      (local.set $string (call {malloc} (i32.const 12)))
      (i32.store (local.get $string) (i32.const 4))
      (i32.store offset=4 (local.get $string) (i32.sub (local.get $end) (local.get $at)))
      (i32.store offset=8 (local.get $string) (local.get $at))
      (return (local.get $string))))
  (block $slow
    (br_if $slow (i32.ne (local.get $token) (i32.const 5)))
    (br_if $slow (i32.gt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 9)))
    (loop $next
      (local.set $digit (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)))
      (br_if $slow (i32.gt_u (local.get $digit) (i32.const 9)))
      (local.set $number (i32.add (i32.mul (local.get $number) (i32.const 10)) (local.get $digit)))
      (br_if $next
        (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (local.get $end))))
    (return (call {number} (i64.extend_i32_u (local.get $number)))))
  (return (call {original} (local.get $lexer) (local.get $token))))
"""

_VALUE_HASH: Final = """
(func (param $value i32) (result i32)
  (local $at i32) (local $end i32) (local $hash i32)
  (local.set $hash (i32.load8_u (local.get $value)))
  (if (i32.and (i32.ne (local.get $hash) (i32.const 4)) (i32.ne (local.get $hash) (i32.const 8)))
    (then (return (call {original} (local.get $value)))))
  (local.set $hash (i32.const 0x811c9dc5))
  (local.set $at (i32.load offset=8 (local.get $value)))
  (local.set $end (i32.add (local.get $at) (i32.load offset=4 (local.get $value))))
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (local.set $hash
        (i32.xor
          (i32.mul (local.get $hash) (i32.const 0x01000193))
          (i32.load8_u (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next)))
  (local.get $hash))
"""

# Rules ask mostly whether a text is in a set or a list of texts. Texts have the types 4 and 8.
_MEMBER: Final = """
(func (param $value i32) (param $all i32) (result i32)
  (local $at i32) (local $end i32) (local $other i32)
  (block $slow
    (br_if $slow (i32.eqz (local.get $value)))
    (br_if $slow (i32.eqz (local.get $all)))
    (br_if $slow (i32.and (i32.load8_u (local.get $value)) (i32.const 0xf3)))
    (if (i32.eq (i32.load8_u (local.get $all)) (i32.const 7))
      (then
        (return (call {boolean} (i32.ne (call {set_get} (local.get $all) (local.get $value)) (i32.const 0))))))
    (br_if $slow (i32.ne (i32.load8_u (local.get $all)) (i32.const 5)))
    (local.set $at (i32.load offset=4 (local.get $all)))
    (local.set $end
      (i32.add (local.get $at) (i32.shl (i32.load offset=8 (local.get $all)) (i32.const 3))))
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (call {boolean} (i32.const 0)))))
      (local.set $other (i32.load offset=4 (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $next (i32.and (i32.load8_u (local.get $other)) (i32.const 0xf3)))
      (br_if $next
        (i32.ne (i32.load offset=4 (local.get $other)) (i32.load offset=4 (local.get $value))))
      (br_if $next
        (call {strncmp}
          (i32.load offset=8 (local.get $other))
          (i32.load offset=8 (local.get $value))
          (i32.load offset=4 (local.get $value))))
      (return (call {boolean} (i32.const 1)))))
  (return (call {original} (local.get $value) (local.get $all))))
"""

# The first key in order whose values differ decides. Sets compare the findings of a bucket with each other.
_COMPARE_OBJECT: Final = """
(func (param $one i32) (param $other i32) (result i32)
  (local $bucket i32) (local $end i32) (local $entry i32) (local $value i32)
  (local $order i32) (local $first i32) (local $result i32)
  (block $slow
    (br_if $slow (i32.ne (i32.load offset=12 (local.get $one)) (i32.load offset=12 (local.get $other))))
    (br_if $slow (i32.gt_u (i32.load offset=8 (local.get $one)) (i32.const 32)))
    (local.set $bucket (i32.load offset=4 (local.get $one)))
    (local.set $end
      (i32.add (local.get $bucket) (i32.shl (i32.load offset=8 (local.get $one)) (i32.const 2))))
    (loop $next
      (local.set $entry (i32.load (local.get $bucket)))
      (block $last
        (loop $entries
          (br_if $last (i32.eqz (local.get $entry)))
          (local.set $value (call {get} (local.get $other) (i32.load (local.get $entry))))
          (br_if $slow (i32.eqz (local.get $value)))
          (local.set $order (call {compare} (i32.load offset=4 (local.get $entry)) (local.get $value)))
          (if (local.get $order)
            (then
              (if (i32.eqz (local.get $first))
                (then
                  (local.set $first (i32.load (local.get $entry)))
                  (local.set $result (local.get $order)))
                (else
                  (if (i32.lt_s (call {compare} (i32.load (local.get $entry)) (local.get $first)) (i32.const 0))
                    (then
                      (local.set $first (i32.load (local.get $entry)))
                      (local.set $result (local.get $order))))))))
          (local.set $entry (i32.load offset=8 (local.get $entry)))
          (br $entries)))
      (local.set $bucket (i32.add (local.get $bucket) (i32.const 4)))
      (br_if $next (i32.lt_u (local.get $bucket) (local.get $end))))
    (return (local.get $result)))
  (return (call {original} (local.get $one) (local.get $other))))
"""

# The library gives a whole number (type 3, form 1) for each result of 32 bits, and a text for larger ones.
_ARITHMETIC: Final = """
(func (param $one i32) (param $other i32) (result i32)
  (local $left i64) (local $right i64)
  (block $slow
    (br_if $slow (i32.eqz (local.get $one)))
    (br_if $slow (i32.eqz (local.get $other)))
    (br_if $slow (i32.ne (i32.load16_u (local.get $one)) (i32.const 0x103)))
    (br_if $slow (i32.ne (i32.load16_u (local.get $other)) (i32.const 0x103)))
    (local.set $left (i64.load offset=8 (local.get $one)))
    (local.set $right (i64.load offset=8 (local.get $other)))
    (br_if $slow (i64.ne (i64.extend32_s (local.get $left)) (local.get $left)))
    (br_if $slow (i64.ne (i64.extend32_s (local.get $right)) (local.get $right)))
    (local.set $left (i64.OPERATION (local.get $left) (local.get $right)))
    (br_if $slow (i64.ne (i64.extend32_s (local.get $left)) (local.get $left)))
    (return (call {number} (local.get $left))))
  (return (call {original} (local.get $one) (local.get $other))))
"""

_SUM: Final = """
(func (param $all i32) (result i32)
  (local $at i32) (local $end i32) (local $one i32) (local $sum i64) (local $number i64)
  (block $slow
    (br_if $slow (i32.eqz (local.get $all)))
    (br_if $slow (i32.ne (i32.load8_u (local.get $all)) (i32.const 5)))
    (local.set $at (i32.load offset=4 (local.get $all)))
    (local.set $end
      (i32.add (local.get $at) (i32.shl (i32.load offset=8 (local.get $all)) (i32.const 3))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $one (i32.load offset=4 (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br_if $slow (i32.ne (i32.load16_u (local.get $one)) (i32.const 0x103)))
        (local.set $number (i64.load offset=8 (local.get $one)))
        (br_if $slow (i64.ne (i64.extend32_s (local.get $number)) (local.get $number)))
        (local.set $sum (i64.add (local.get $sum) (local.get $number)))
        (br $next)))
    (br_if $slow (i64.ne (i64.extend32_s (local.get $sum)) (local.get $sum)))
    (return (call {number} (local.get $sum))))
  (return (call {original} (local.get $all))))
"""

_MEMOIZE_INIT: Final = """
(func
  (global.set {table} (call {malloc} (i32.const {bytes})))
  (memory.fill (global.get {table}) (i32.const 0) (i32.const {bytes})))
"""

_MEMOIZE_GET: Final = """
(func (param $rule i32) (result i32)
  (if (i32.ge_u (local.get $rule) (i32.const {rules})) (then (unreachable)))
  (i32.load (i32.add (global.get {table}) (i32.shl (local.get $rule) (i32.const 2)))))
"""

_MEMOIZE_INSERT: Final = """
(func (param $rule i32) (param $value i32)
  (if (i32.ge_u (local.get $rule) (i32.const {rules})) (then (unreachable)))
  (i32.store (i32.add (global.get {table}) (i32.shl (local.get $rule) (i32.const 2))) (local.get $value)))
"""

_LEAVE_OUT: Final = "(func (param $table i32) (global.set {left_out} (local.get $table)))"

_RULE: Final = """
(func (param $input i32) (param $data i32) (result i32)
  (if (global.get {left_out})
    (then
      (if (i32.load8_u offset={number} (global.get {left_out})) (then (return (i32.const 0))))))
  (return (call {original} (local.get $input) (local.get $data))))
"""


LEAVE_OUT: Final = b"usher_leave_out"
NO_RULES: Final[Mapping[str, int]] = MappingProxyType({})


class QuickenError(Exception):
    """The module is not one of the OPA that this file knows."""


class _Section(NamedTuple):
    id: int
    content: bytes


def quickened(module: bytes, left_out: Mapping[str, int] = NO_RULES) -> bytes:
    """The module with the faster functions.

    Args:
        left_out: the number of each rule that can be left out, by its name behind `data.usher`.

    Raises:
        QuickenError: OPA's runtime is another one.
    """
    sections = list(_sections(module))
    imported = _imported_functions(_content(sections, _IMPORT))
    bodies = _entries(_content(sections, _CODE))
    index = {name: number for number, name in _names(sections)}
    if "opa_memoize_push" in index:
        raise QuickenError("a rule uses `with`, which changes what rules remember")
    for name, digest in KNOWN.items():
        found = _digest(bodies[index[name] - imported]) if name in index else "it is missing"
        if found != digest:
            raise QuickenError(f"{name} of OPA's runtime is another one ({found}): read it, and compare it with ours")
    types = _numbers(_content(sections, _FUNCTION))
    numbers = {
        "constants_end": _end_of_data(_content(sections, _DATA)),
        "hash": index["opa_value_hash"],
        "malloc": index["opa_malloc"],
        "number": index["opa_number_int"],
        "boolean": index["opa_boolean"],
        "compare": index["opa_value_compare"],
        "get": index["opa_value_get"],
        "set_get": index["opa_set_get"],
        "strncmp": index["opa_strncmp"],
        **_ADDRESSES,
        "table": _count(_content(sections, _GLOBAL)),
        "rules": imported + len(bodies),
        "bytes": 4 * (imported + len(bodies)),
    }
    for name, text in (
        ("opa_value_get", _VALUE_GET),
        ("opa_value_iter", _VALUE_ITER),
        ("opa_malloc", _MALLOC),
        ("opa_strncmp", _STRNCMP),
        ("opa_json_lex_read_string", _LEX_STRING),
        ("opa_json_parse_token", _PARSE_TOKEN),
        ("opa_value_hash", _VALUE_HASH),
        ("builtin_member", _MEMBER),
        ("opa_value_compare_object", _COMPARE_OBJECT),
        ("opa_arith_plus", _ARITHMETIC.replace("OPERATION", "add")),
        ("opa_arith_minus", _ARITHMETIC.replace("OPERATION", "sub")),
        ("opa_arith_multiply", _ARITHMETIC.replace("OPERATION", "mul")),
        ("opa_agg_sum", _SUM),
        ("opa_memoize_init", _MEMOIZE_INIT),
        ("opa_memoize_get", _MEMOIZE_GET),
        ("opa_memoize_insert", _MEMOIZE_INSERT),
    ):
        place, original = index[name] - imported, imported + len(bodies)
        if "{original}" in text:
            bodies.append(bodies[place])
            types.append(types[place])
        bodies[place] = _body(text.format(**numbers, original=original))
    table = numbers["table"] + 1
    for name, number in left_out.items():
        place, original = index[f"g0.data.usher.{name}"] - imported, imported + len(bodies)
        bodies.append(bodies[place])
        types.append(types[place])
        bodies[place] = _body(_RULE.format(left_out=table, number=number, original=original))
    leaving_out = imported + len(bodies)
    bodies.append(_body(_LEAVE_OUT.format(left_out=table)))
    types.append(types[index["opa_free"] - imported])
    # Globals that hold the addresses of the array and of the table: i32, mutable, at first 0.
    globals_, exports = _content(sections, _GLOBAL), _content(sections, _EXPORT)
    number, start = _unsigned(globals_, 0)
    exported, first = _unsigned(exports, 0)
    changed = {
        _FUNCTION: _list([_leb(each) for each in types]),
        _GLOBAL: _leb(number + 2) + globals_[start:] + bytes((0x7F, 0x01, 0x41, 0x00, 0x0B)) * 2,
        _EXPORT: _leb(exported + 1) + exports[first:] + _leb(len(LEAVE_OUT)) + LEAVE_OUT + b"\0" + _leb(leaving_out),
        _CODE: _list([_leb(len(each)) + each for each in bodies]),
    }
    return module[:8] + b"".join(
        bytes((each.id,)) + _leb(len(content)) + content
        for each in sections
        for content in (changed.get(each.id, each.content),)
    )


class _Written(ctypes.Structure):
    """BinaryenModuleAllocateAndWriteResult of binaryen-c.h."""

    _fields_ = (("binary", ctypes.c_void_p), ("size", ctypes.c_size_t), ("source_map", ctypes.c_void_p))


_FEATURES: Final = ("BulkMemory", "SignExt", "MutableGlobals", "NontrappingFPToInt")
"""The extensions of WebAssembly that OPA's runtime uses."""


def optimised(module: bytes, binaryen: Path) -> bytes:
    """The module as Binaryen's `wasm-opt -O3` leaves it: a third smaller, because functions have no names any more.

    Args:
        binaryen: the folder of its library.
    """
    library = ctypes.CDLL(str(binaryen / ("libbinaryen.dylib" if sys.platform == "darwin" else "libbinaryen.so")))
    library.BinaryenModuleRead.restype = ctypes.c_void_p
    library.BinaryenModuleAllocateAndWrite.restype = _Written
    features = 0
    for name in _FEATURES:
        feature = library[f"BinaryenFeature{name}"]
        feature.restype = ctypes.c_uint32
        features |= feature()
    library.BinaryenSetOptimizeLevel(3)
    library.BinaryenSetShrinkLevel(0)
    read = ctypes.c_void_p(library.BinaryenModuleRead(module, ctypes.c_size_t(len(module))))
    library.BinaryenModuleSetFeatures(read, ctypes.c_uint32(features))
    library.BinaryenModuleOptimize(read)
    written = library.BinaryenModuleAllocateAndWrite(read, None)
    return ctypes.string_at(written.binary, written.size)


def _body(text: str) -> bytes:
    """The body of the one function of a module, whose numbers are those of another module."""
    made = bytes(wasmtime.wat2wasm(f"(module {text})"))
    return _entries(_content(list(_sections(made)), _CODE))[0]


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]


def _sections(module: bytes) -> Iterator[_Section]:
    at = 8
    while at < len(module):
        length, start = _unsigned(module, at + 1)
        yield _Section(module[at], module[start : start + length])
        at = start + length


def _content(sections: list[_Section], number: int) -> bytes:
    return next(each.content for each in sections if each.id == number)


def _imported_functions(content: bytes) -> int:
    """The number of imported functions; an import of another kind is a memory."""
    count, at = _unsigned(content, 0)
    functions = 0
    for _ in range(count):
        for _ in range(2):  # names of module and field
            length, at = _unsigned(content, at)
            at += length
        kind, at = content[at], at + 1
        if kind == 0:
            functions += 1
            _, at = _unsigned(content, at)
        elif kind == 2:  # a memory: a byte that tells whether it has an upper limit, and the limits
            bounded, at = content[at], at + 1
            for _ in range(1 + (bounded & 1)):
                _, at = _unsigned(content, at)
        else:
            raise QuickenError(f"an import of kind {kind}")
    return functions


def _names(sections: list[_Section]) -> Iterator[tuple[int, str]]:
    """Numbers and names of the functions, from the custom section `name`."""
    for each in sections:
        if each.id == _CUSTOM and each.content.startswith(b"\x04name"):
            at = 5
            while at < len(each.content):
                part, (length, start) = each.content[at], _unsigned(each.content, at + 1)
                at = start + length
                if part == 1:
                    count, here = _unsigned(each.content, start)
                    for _ in range(count):
                        number, here = _unsigned(each.content, here)
                        size, here = _unsigned(each.content, here)
                        yield number, each.content[here : here + size].decode()
                        here += size


def _end_of_data(content: bytes) -> int:
    """The address behind the last constant."""
    count, at = _unsigned(content, 0)
    end = 0
    for _ in range(count):
        if content[at : at + 2] != b"\x00\x41":
            raise QuickenError("constants at no fixed address")
        start, at = _unsigned(content, at + 2)
        length, at = _unsigned(content, at + 1)  # behind the end of the expression
        at += length
        end = max(end, start + length)
    return end


def _entries(content: bytes) -> list[bytes]:
    """The entries of a section that begin with their lengths."""
    count, at = _unsigned(content, 0)
    found = []
    for _ in range(count):
        length, at = _unsigned(content, at)
        found.append(content[at : at + length])
        at += length
    return found


def _numbers(content: bytes) -> list[int]:
    count, at = _unsigned(content, 0)
    found = []
    for _ in range(count):
        number, at = _unsigned(content, at)
        found.append(number)
    return found


def _count(content: bytes) -> int:
    return _unsigned(content, 0)[0]


def _list(entries: list[bytes]) -> bytes:
    return _leb(len(entries)) + b"".join(entries)


def _unsigned(content: bytes, at: int) -> tuple[int, int]:
    """A number in LEB128, and the place behind it."""
    result = shift = 0
    while True:
        byte = content[at]
        at += 1
        result |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return result, at


def _leb(number: int) -> bytes:
    result = bytearray()
    while True:
        byte, number = number & 0x7F, number >> 7
        result.append(byte | 0x80 if number else byte)
        if not number:
            return bytes(result)
