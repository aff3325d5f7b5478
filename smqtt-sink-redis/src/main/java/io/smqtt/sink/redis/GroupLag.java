// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the answer to {@code XINFO GROUPS}: a list for each group, with names and values in turn. */
final class GroupLag {

    private GroupLag() {}

    /** The entries that a group has not read yet; -1 if the answer does not have them. */
    static long of(List<?> groups, byte[] group) {
        for (Object each : groups) {
            if (each instanceof List<?> fields && Arrays.equals(bytes(value(fields, "name")), group)) {
                return value(fields, "lag") instanceof Long lag ? lag : -1;
            }
        }
        return -1;
    }

    private static @Nullable Object value(List<?> fields, String name) {
        byte[] wanted = name.getBytes(UTF_8);
        for (int i = 0; i + 1 < fields.size(); i += 2) {
            if (Arrays.equals(bytes(fields.get(i)), wanted)) {
                return fields.get(i + 1);
            }
        }
        return null;
    }

    private static byte[] bytes(@Nullable Object text) {
        if (text instanceof ByteBuffer buffer) {
            byte[] copy = new byte[buffer.remaining()];
            buffer.duplicate().get(copy);
            return copy;
        }
        return text instanceof byte[] bytes ? bytes : String.valueOf(text).getBytes(UTF_8);
    }
}
