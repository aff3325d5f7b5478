// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import java.util.concurrent.ThreadLocalRandom;

/**
 * A hash over a region of a string, so that a look-up of a topic level creates no substring. Clients choose the strings. The
 * secret, which is random for each process, prevents them from choosing strings that collide.
 */
final class LevelHash {

    private static final long SECRET = ThreadLocalRandom.current().nextLong() | 1;
    private static final long START = ThreadLocalRandom.current().nextLong();

    private LevelHash() {}

    /** The hash of {@code text[from, to)}. */
    static int of(String text, int from, int to) {
        long hash = START ^ (to - from);
        int i = from;
        for (; i + 4 <= to; i += 4) {
            long word = text.charAt(i)
                    | (long) text.charAt(i + 1) << 16
                    | (long) text.charAt(i + 2) << 32
                    | (long) text.charAt(i + 3) << 48;
            hash = mix(hash ^ word);
        }
        long rest = 0;
        for (; i < to; i++) {
            rest = rest << 16 | text.charAt(i);
        }
        return fold(mix(hash ^ rest));
    }

    /** The hash of a sequence of levels, extended by one level. */
    static long extend(long levels, int level) {
        return mix(levels ^ level);
    }

    /** Folds 64 bits into 32. */
    static int fold(long hash) {
        return (int) (hash ^ hash >>> 32);
    }

    private static long mix(long word) {
        return word * SECRET ^ Math.multiplyHigh(word, SECRET);
    }
}
