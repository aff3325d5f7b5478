// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.thread.AnyThread;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/** The {@code cluster.secret} as a key, from which the proofs and the connection keys are derived. Immutable. */
@AnyThread
public final class SharedSecret {

    private static final int KEY_BITS = 256;
    private static final int KEY_ROUNDS = 100_000;
    private static final String ALGORITHM = "HmacSHA256";

    private final SecretKeySpec key;

    /**
     * Derives the key; takes some ten milliseconds.
     *
     * @param secret the shared secret of all nodes
     * @throws GeneralSecurityException if this JVM has no PBKDF2 with HMAC-SHA-256
     */
    public SharedSecret(String secret) throws GeneralSecurityException {
        byte[] salt = "smqtt cluster".getBytes(StandardCharsets.UTF_8); // fixed: all nodes must come to the same key
        PBEKeySpec spec = new PBEKeySpec(secret.toCharArray(), salt, KEY_ROUNDS, KEY_BITS);
        SecretKeyFactory factory = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256");
        key = new SecretKeySpec(factory.generateSecret(spec).getEncoded(), ALGORITHM);
    }

    /**
     * Derives 32 bytes that cannot be computed without the secret.
     *
     * @param purpose the purpose of the bytes
     * @param acceptor the random number of the accepting end
     * @param dialler the random number of the dialling end
     * @return a new array
     * @throws GeneralSecurityException if this JVM has no HMAC-SHA-256
     */
    public byte[] derive(String purpose, byte[] acceptor, byte[] dialler) throws GeneralSecurityException {
        Mac mac = Mac.getInstance(ALGORITHM);
        mac.init(key);
        mac.update(purpose.getBytes(StandardCharsets.UTF_8));
        mac.update((byte) 0);
        mac.update(acceptor);
        return mac.doFinal(dialler);
    }
}
