;; dst[0] = src[0] ^ src[1]: vectors, then single bytes. The tests change single lines.
(module
  (memory (export "memory") 1)
  (global $g (mut i32) (i32.const 4096))
  (func $other (param i32))
  (func $kernel (export "kernel")
    (param $len i32) (param $k i32) (param $coeffs i32) (param $src i32) (param $dst i32)
    (local $i i32) (local $a i32) (local $b i32) (local $d i32) (local $v v128) (local $w i64)
    (br_if 0 (i32.eqz (local.get $len)))
    (local.set $a (i32.load (local.get $src)))
    (local.set $b (i32.load offset=4 (local.get $src)))
    (local.set $d (i32.load (local.get $dst)))
    (block $tail
      (br_if $tail (i32.lt_u (local.get $len) (i32.const 16)))
      (loop $next
        (local.set $v (v128.load (i32.add (local.get $a) (local.get $i))))
        (local.set $v (v128.xor (local.get $v) (v128.load (i32.add (local.get $b) (local.get $i)))))
        (v128.store (i32.add (local.get $d) (local.get $i)) (local.get $v))
        (local.set $i (i32.add (local.get $i) (i32.const 16)))
        (br_if $next (i32.gt_u (i32.sub (local.get $len) (local.get $i)) (i32.const 15)))
      )
    )
    (br_if 0 (i32.ge_u (local.get $i) (local.get $len)))
    (loop $byte
      (i32.store8
        (i32.add (local.get $d) (local.get $i))
        (i32.xor
          (i32.load8_u (i32.add (local.get $a) (local.get $i)))
          (i32.load8_u (i32.add (local.get $b) (local.get $i)))
        )
      )
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $byte (i32.lt_u (local.get $i) (local.get $len)))
    )
  )
)
