// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sql.RuleInput;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The messages that a thread has read lately: a message for several actions is parsed once. Actions take messages in bursts, one after the other, so there
 * are as many as the burst of a queue. One thread.
 */
final class RecentInputs {

    private static final int MOST = 512; // a power of two; bursts of two event loops
    private static final long MOST_BYTES = 4L << 20;

    private final long[] ids = new long[MOST];
    private final @Nullable RuleInput[] inputs = new RuleInput[MOST];
    private final long mostBytes;
    private long bytes;

    RecentInputs() {
        this(MOST_BYTES);
    }

    /** With a limit for the messages. What is made of them takes several times as much. */
    RecentInputs(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** The input of a message: that of the action before, if it was for the same message. */
    RuleInput get(ApplicationMessage message, Supplier<RuleInput> made) {
        long id = message.id();
        if (id == ApplicationMessage.NO_ID) {
            return made.get();
        }
        int place = (int) (id ^ (id >>> 32)) & (MOST - 1);
        RuleInput known = inputs[place];
        if (known != null && ids[place] == id) {
            return known;
        }
        RuleInput input = made.get();
        long size = message.footprintBytes();
        if (size > mostBytes) {
            return input;
        }
        if (bytes + size > mostBytes) {
            Arrays.fill(inputs, null);
            bytes = 0;
        }
        bytes += size; // also in the place of another one: so all leave together, at the latest after so many bytes
        ids[place] = id;
        inputs[place] = input;
        return input;
    }
}
