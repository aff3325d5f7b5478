// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import java.security.SecureRandom;
import java.util.Base64;

/** Client identifiers for clients that bring none. */
final class ClientIds {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int RANDOM_BYTES = 15;

    private ClientIds() {}

    /** An identifier that nobody can guess: knowing it would be enough to take the session over. */
    static String assign() {
        byte[] bytes = new byte[RANDOM_BYTES];
        RANDOM.nextBytes(bytes);
        return "smqtt-" + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
