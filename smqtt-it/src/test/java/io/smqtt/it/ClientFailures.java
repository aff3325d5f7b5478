// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;

/** Checks the clients that run on threads of their own. */
final class ClientFailures {

    private ClientFailures() {}

    /** Asserts that a client had no failure, with the client and the failure in the first line of the message. */
    static void assertNone(Thread client, @Nullable Throwable failure) {
        assertThat(failure).as("%s: %s", client.getName(), failure).isNull();
    }
}
