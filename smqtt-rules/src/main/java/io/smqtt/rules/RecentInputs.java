// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sql.RuleInput;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The messages that a thread has read lately: a message for several actions is parsed once. Actions take messages in bursts, one after the other, so there
 * are as many as the burst of a queue. A message of any size has a place while the thread is busy. One thread.
 */
final class RecentInputs {

    private static final int MOST = 512; // a power of two; bursts of two event loops
    private static final long MOST_BYTES = 16L << 20;

    /**
     * The memory of what is made of a byte of a payload at most: a copy, its text, and the tree of its JSON. The most is that of many empty objects, of three
     * characters each.
     */
    static final int BYTES_OF_A_BYTE = 24;

    private final long[] ids = new long[MOST];
    private final @Nullable RuleInput[] inputs = new RuleInput[MOST];
    private final long mostBytes;
    private long bytes;
    private long largeId;
    private @Nullable RuleInput large;

    RecentInputs() {
        this(MOST_BYTES);
    }

    /** With a limit for messages and what is made of them. */
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
        long size = bytes(message);
        if (size > mostBytes) {
            return large(id, made);
        }
        RuleInput input = made.get();
        if (bytes + size > mostBytes) {
            forgetSmall();
        }
        bytes += size; // also in the place of another one: so all leave together, at the latest after so many bytes
        ids[place] = id;
        inputs[place] = input;
        return input;
    }

    private static long bytes(ApplicationMessage message) {
        return message.footprintBytes()
                + (long) BYTES_OF_A_BYTE * message.payload().size();
    }

    private RuleInput large(long id, Supplier<RuleInput> made) {
        RuleInput known = large;
        if (known != null && largeId == id) {
            return known;
        }
        large = null; // before there is another one
        RuleInput input = made.get();
        large = input;
        largeId = id;
        return input;
    }

    /** Forgets a message beyond the limit: the thread has nothing to do at present. */
    void forgetLarge() {
        large = null;
    }

    private void forgetSmall() {
        Arrays.fill(inputs, null);
        bytes = 0;
    }

    /** Forgets all messages. */
    void clear() {
        forgetSmall();
        forgetLarge();
    }
}
