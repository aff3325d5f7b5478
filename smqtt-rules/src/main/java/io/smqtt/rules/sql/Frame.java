// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import org.jspecify.annotations.Nullable;

/** The state of one evaluation: the event, what is left of the budget, and the values that the statement has named. */
final class Frame {

    final RuleInput input;
    final Meter meter;
    final @Nullable Object[] slots;
    private final PulledPaths paths;
    private @Nullable Object @Nullable [] pulled;

    Frame(RuleInput input, Meter meter, int slots, PulledPaths paths) {
        this.input = input;
        this.meter = meter;
        this.slots = new Object[slots];
        this.paths = paths;
    }

    /** A field of the event. */
    @Nullable
    Object field(String name) {
        return name.equals("payload") ? input.payload().value(meter) : Values.of(input.field(name));
    }

    /** The value of a path of the payload. */
    @Nullable
    Object pulled(int slot) {
        @Nullable Object[] values = pulled;
        if (values == null) {
            values = input.payload().pull(paths, meter);
            pulled = values;
        }
        return values[slot];
    }

    /** The value, or what the text of the payload is as JSON. */
    @Nullable
    Object structure(@Nullable Object value) {
        if (!Values.isText(value)) {
            return value;
        }
        SharedPayload payload = input.payload();
        if (payload.isValue(value)) {
            return payload.tree(meter);
        }
        return value;
    }
}
