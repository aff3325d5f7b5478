// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import java.security.SecureRandom;

/**
 * Creates message identifiers that are unique over all brokers and all runs of them, with high probability: consecutive numbers from a
 * random one of 64 bits. Not thread-safe: each event loop has its own, so that an identifier costs one addition.
 *
 * <p>Consecutive numbers collide less often than random ones: two ranges of {@code n} numbers overlap with a probability of
 * {@code n / 2^63}. For a thousand event loops with a thousand million messages each that is 1 in 18,000 for any two of them,
 * while two of as many random numbers would be equal with near certainty.
 */
public final class MessageIds {

    private long last;

    /** Starts at a random number. */
    public MessageIds() {
        this(new SecureRandom().nextLong());
    }

    MessageIds(long last) {
        this.last = last;
    }

    /**
     * The next identifier.
     *
     * @return a number that is not {@link ApplicationMessage#NO_ID}
     */
    public long next() {
        last++;
        if (last == ApplicationMessage.NO_ID) {
            last++;
        }
        return last;
    }
}
