// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.stream.LongStream;

/** Which histories are tried: {@code -Dsmqtt.seeds=N} for more of them, {@code -Dsmqtt.seed=S} for one. */
final class Seeds {

    private Seeds() {}

    static long[] some(int usual) {
        Long one = Long.getLong("smqtt.seed");
        return one != null
                ? new long[] {one}
                : LongStream.rangeClosed(1, Integer.getInteger("smqtt.seeds", usual))
                        .toArray();
    }
}
