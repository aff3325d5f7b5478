// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The space of a list in an answer, {@link BrokerView#MAX_BYTES} as JSON: clients choose their identifiers and filters, of up to 64 KiB
 * each. No state.
 */
public final class ListRoom {

    /** Size of an entry as JSON, without the texts that clients choose. */
    private static final int ENTRY_BYTES = 450;

    private ListRoom() {}

    /**
     * Counts the entries that fit.
     *
     * @param rows entries in their order
     * @param bytes maximum size of an entry as JSON, in bytes
     * @param <T> type of an entry
     * @return number of entries from the first one on; at least one if there is any
     */
    public static <T> int fitting(List<T> rows, ToLongFunction<? super T> bytes) {
        long room = BrokerView.MAX_BYTES;
        for (int i = 0; i < rows.size(); i++) {
            room -= bytes.applyAsLong(rows.get(i));
            if (room < 0) {
                return Math.max(1, i);
            }
        }
        return rows.size();
    }

    /**
     * Returns the maximum size of an entry as JSON.
     *
     * @param texts the texts in it that clients choose; null for one that is missing
     * @return bytes
     */
    public static long bytes(@Nullable String... texts) {
        long bytes = ENTRY_BYTES;
        for (String text : texts) {
            bytes += textBytes(text);
        }
        return bytes;
    }

    /** Maximum size of a text in JSON, without its quotes. */
    static long textBytes(@Nullable String text) {
        long bytes = 0;
        for (int i = 0; text != null && i < text.length(); i++) {
            char c = text.charAt(i);
            bytes += c < ' ' ? 6 : c == '"' || c == '\\' ? 2 : c < 0x80 ? 1 : 3;
        }
        return bytes;
    }
}
