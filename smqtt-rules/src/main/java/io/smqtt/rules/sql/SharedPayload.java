// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The payload of one message for all its rules. The first rule that needs paths of it pulls them by streaming; the second one reads the whole
 * document, which serves all further rules.
 */
final class SharedPayload {

    private static final String NAME = "the payload";

    private final @Nullable Object raw;
    private @Nullable Object value;
    private @Nullable Object tree;
    private @Nullable RuleFailure failure;
    private boolean pulled;

    SharedPayload(@Nullable Object raw) {
        this.raw = raw;
    }

    /** The payload as expressions see it: text if it is UTF-8, otherwise bytes, or a map or list if the event has one. */
    @Nullable
    Object value(Meter meter) {
        if (!(raw instanceof byte[] bytes)) {
            return Values.of(raw);
        }
        meter.read(bytes.length);
        Object known = value;
        if (known == null) {
            known = Values.textOrBytes(bytes);
            value = known;
        }
        return known;
    }

    /** Whether the value is that of the payload, so that {@link #tree} has its JSON. */
    boolean isValue(@Nullable Object other) {
        return other != null && (other == value || other == raw);
    }

    /** The payload read as JSON, which is done at most once. Undefined without a payload. */
    @Nullable
    Object tree(Meter meter) {
        if (raw == null || raw instanceof Map || raw instanceof List) {
            return raw;
        }
        charge(meter);
        if (failure != null) {
            throw failure;
        }
        Object known = tree;
        if (known == null) {
            try {
                known = Json.read(source(), NAME);
            } catch (RuleFailure e) {
                failure = e;
                throw e;
            }
            tree = known;
        }
        return known;
    }

    /** The values of the paths, by their slots. */
    @Nullable
    Object[] pull(PulledPaths paths, Meter meter) {
        if (pulled
                || paths.isWholeNeeded()
                || tree != null
                || failure != null
                || !(raw instanceof byte[] || raw instanceof String)) {
            return paths.pick(tree(meter), meter);
        }
        charge(meter);
        pulled = true;
        return paths.pull(source(), NAME, meter);
    }

    private Object source() {
        return raw instanceof byte[] ? raw : String.valueOf(raw);
    }

    private void charge(Meter meter) {
        meter.read(raw instanceof byte[] bytes ? bytes.length : raw instanceof String text ? text.length() : 0);
    }
}
