// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.math.BigInteger;
import java.util.List;

/** Functions of the bits of integers and of bytes. */
final class BitFunctions {

    private static final int MOST_BITS = 4096;

    private BitFunctions() {}

    static List<Function> all() {
        return new FunctionFamily()
                .add(
                        "bitand(x, y)",
                        "the bits of both integers",
                        a -> Values.narrow(big(a, 0).and(big(a, 1))))
                .add(
                        "bitor(x, y)",
                        "the bits of either integer",
                        a -> Values.narrow(big(a, 0).or(big(a, 1))))
                .add(
                        "bitxor(x, y)",
                        "the bits of exactly one integer",
                        a -> Values.narrow(big(a, 0).xor(big(a, 1))))
                .add(
                        "bitnot(x)",
                        "the integer with all bits reversed",
                        a -> Values.narrow(big(a, 0).not()))
                .add(
                        "bitsl(x, n)",
                        "shifted to the left by n bits",
                        a -> Values.narrow(big(a, 0).shiftLeft(shift(a))))
                .add(
                        "bitsr(x, n)",
                        "shifted to the right by n bits; the sign stays",
                        a -> Values.narrow(big(a, 0).shiftRight(shift(a))))
                .add("bitsize(bytes)", "the number of bits", a -> a.bytes(0).length * 8L)
                .add("bytesize(bytes)", "the number of bytes", a -> (long) a.bytes(0).length)
                .add(
                        "subbits(bytes[, start], length[, type][, sign][, order])",
                        "length bits from a position, counted from 1 (default): 'integer' (default), 'float' (16, 32, 64 bits) or 'bits'; 'unsigned' (default) or 'signed'; 'big' (default) or 'little' endian",
                        BitFunctions::subbits)
                .functions();
    }

    private static BigInteger big(Arguments a, int index) {
        if (!Values.isInteger(a.value(index))) {
            throw a.wrong(index, "an integer");
        }
        return Values.big(a.value(index));
    }

    private static int shift(Arguments a) {
        return (int) a.integer(1, 0, MOST_BITS);
    }

    private static Object subbits(Arguments a) {
        byte[] bytes = a.bytes(0);
        boolean two = a.count() == 2;
        long start = two ? 1 : a.integer(1, 1, Integer.MAX_VALUE);
        int length = (int) a.integer(two ? 1 : 2, 1, MOST_BITS);
        String type = a.text(3, "integer");
        boolean signed = "signed".equals(a.text(4, "unsigned"));
        boolean little = "little".equals(a.text(5, "big"));
        if (start - 1 + length > bytes.length * 8L) {
            throw a.failure("there are only " + bytes.length * 8L + " bits");
        }
        byte[] part = part(bytes, (int) start - 1, length);
        if (type.equals("bits")) {
            return Values.textOrBytes(shiftedToFront(part, length));
        }
        if (little) {
            if (length % 8 != 0) {
                throw a.failure("the length must be a multiple of 8 for 'little'");
            }
            reverse(part);
        }
        BigInteger unsigned = new BigInteger(1, part);
        if (type.equals("float")) {
            return real(a, unsigned, length);
        }
        if (!type.equals("integer")) {
            throw a.failure("the type must be 'integer', 'float' or 'bits'");
        }
        boolean negative = signed && unsigned.testBit(length - 1);
        return Values.narrow(negative ? unsigned.subtract(BigInteger.ONE.shiftLeft(length)) : unsigned);
    }

    /** The bits as the last ones of an array of bytes. */
    private static byte[] part(byte[] bytes, int start, int length) {
        byte[] part = new byte[(length + 7) / 8];
        int offset = part.length * 8 - length;
        for (int bit = 0; bit < length; bit++) {
            int from = start + bit;
            if ((bytes[from >> 3] & 0x80 >> (from & 7)) != 0) {
                part[offset + bit >> 3] |= (byte) (0x80 >> (offset + bit & 7));
            }
        }
        return part;
    }

    private static byte[] shiftedToFront(byte[] part, int length) {
        return part(part, part.length * 8 - length, length);
    }

    private static void reverse(byte[] bytes) {
        for (int index = 0; index < bytes.length / 2; index++) {
            byte other = bytes[bytes.length - 1 - index];
            bytes[bytes.length - 1 - index] = bytes[index];
            bytes[index] = other;
        }
    }

    private static Object real(Arguments a, BigInteger bits, int length) {
        return Values.finite(
                switch (length) {
                    case 16 -> half(bits.intValue());
                    case 32 -> Float.intBitsToFloat(bits.intValue());
                    case 64 -> Double.longBitsToDouble(bits.longValue());
                    default -> throw a.failure("a float has 16, 32 or 64 bits");
                });
    }

    /** A number of IEEE 754 with 16 bits. */
    private static double half(int bits) {
        int exponent = bits >> 10 & 0x1F;
        int fraction = bits & 0x3FF;
        double size = exponent == 0
                ? Math.scalb((double) fraction, -24)
                : exponent == 31 ? Double.NaN : Math.scalb(1024.0 + fraction, exponent - 25);
        return (bits & 0x8000) == 0 ? size : -size;
    }
}
