// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.smqtt.it.SystemCalls.Call;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * When each message of a trace was written to the log of the store, when that log was synced after it, and when the
 * acknowledgement left. Payloads are {@code m0000001;} and so on, with the packet identifiers 1 and so on.
 */
final class AcknowledgementTrace {

    private static final Pattern MARK = Pattern.compile("m(\\d{7});");
    private static final int MARK_BYTES = 9;
    private static final int BLOCK = 32 << 10; // of the log, each begins with a header
    private static final int HEADER = 7;
    private static final int PUBACK = 0x40;
    private static final int PUBREC = 0x50;

    private final Map<Integer, Integer> safe = new HashMap<>(); // number of a message, end of the sync
    private final Map<String, Log> logs = new HashMap<>();
    private final Map<String, ByteArrayOutputStream> sockets = new HashMap<>();
    private final List<Integer> early = new ArrayList<>();
    private int acknowledged;
    private int afterError;
    private int refused;
    private int syncs;
    private int errors;

    private AcknowledgementTrace() {}

    static AcknowledgementTrace of(List<Call> calls) {
        AcknowledgementTrace trace = new AcknowledgementTrace();
        calls.forEach(trace::take);
        return trace;
    }

    private void take(Call call) {
        if (call.isSync() && call.target().endsWith(".log")) {
            sync(call);
        } else if (call.target().endsWith(".log") && call.result() > 0) {
            logs.computeIfAbsent(call.target(), path -> new Log()).write(call);
        } else if (call.isToSocket() && call.result() > 0) {
            send(call);
        }
    }

    private void sync(Call call) {
        if (call.injected()) {
            errors++;
        } else if (call.result() == 0) {
            syncs++;
            logs.computeIfAbsent(call.target(), path -> new Log()).synced(call, safe);
        }
    }

    private void send(Call call) {
        ByteArrayOutputStream stream = sockets.computeIfAbsent(call.target(), path -> new ByteArrayOutputStream());
        stream.write(call.data(), 0, (int) call.result());
        byte[] bytes = stream.toByteArray();
        int at = 0;
        while (bytes.length - at >= 2 && bytes.length - at >= 2 + bytes[at + 1]) {
            int length = 2 + bytes[at + 1];
            int type = bytes[at] & 0xFF;
            if (type == PUBACK || type == PUBREC) {
                int id = (bytes[at + 2] & 0xFF) << 8 | bytes[at + 3] & 0xFF;
                acknowledgement(call, id, length > 4 ? bytes[at + 4] & 0xFF : 0);
            }
            at += length;
        }
        stream.reset();
        stream.write(bytes, at, bytes.length - at);
    }

    private void acknowledgement(Call call, int number, int reason) {
        if (reason >= 0x80) {
            refused++;
            return;
        }
        acknowledged++;
        if (errors > 0) {
            afterError++;
        }
        Integer synced = safe.get(number);
        if (synced == null || synced >= call.begin()) {
            early.add(number);
        }
    }

    /** Acknowledgements that left before the sync that covers their message had returned. */
    List<Integer> early() {
        return early;
    }

    /** Messages with a PUBACK or PUBREC that says that all is well. */
    int acknowledged() {
        return acknowledged;
    }

    /** The same, of those that left after the first error that was made. */
    int acknowledgedAfterError() {
        return afterError;
    }

    /** Messages with a PUBACK or PUBREC that refuses them. */
    int refused() {
        return refused;
    }

    /** Syncs of a log that succeeded. */
    int syncs() {
        return syncs;
    }

    /** Syncs of a log that were made to fail. */
    int errors() {
        return errors;
    }

    /** A log file: what was written and not yet synced. */
    private static final class Log {

        private final Map<Integer, Integer> written = new HashMap<>(); // number of a message, end of the write
        private final StringBuilder tail = new StringBuilder();
        private long size;

        /** Finds messages, also where the end of a block divides one. */
        void write(Call call) {
            byte[] data = call.data();
            for (int i = 0; i < call.result(); i++, size++) {
                if (size < BLOCK || size % BLOCK >= HEADER) {
                    tail.append((char) (data[i] & 0xFF));
                }
            }
            Matcher mark = MARK.matcher(tail);
            while (mark.find()) {
                written.putIfAbsent(Integer.parseInt(mark.group(1)), call.end());
            }
            tail.delete(0, Math.max(0, tail.length() - MARK_BYTES + 1));
        }

        void synced(Call call, Map<Integer, Integer> safe) {
            written.forEach((number, end) -> {
                if (end < call.begin()) {
                    safe.putIfAbsent(number, call.end());
                }
            });
            written.values().removeIf(end -> end < call.begin());
        }
    }

    @Override
    public String toString() {
        return acknowledged + " acknowledgements, " + early.size() + " before the sync; " + refused + " refusals; "
                + syncs + " syncs of the log, " + errors + " failed; "
                + String.format(Locale.ROOT, "%.1f", acknowledged / (double) Math.max(1, syncs))
                + " acknowledgements per sync";
    }

    /** The payload of a message. */
    static String payload(int number) {
        String text = "m%07d;".formatted(number);
        if (text.getBytes(StandardCharsets.UTF_8).length != MARK_BYTES) {
            throw new IllegalArgumentException(text);
        }
        return text;
    }
}
