// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Encrypts and authenticates frames with what the nodes share. Each run of a node has a key of its own, made from the secret
 * and a number that it draws, and counts its frames: no nonce of AES-GCM is used twice. A sealed frame is that number
 * (16 bytes), the count (8 bytes), then the encrypted frame with its tag. Any thread.
 *
 * <p>A frame that is sent again by a stranger is not noticed here. It is harmless: what it says is numbered and done once.
 */
final class FrameSeal {

    private static final int RUN_BYTES = 16;
    private static final int HEADER_BYTES = RUN_BYTES + Long.BYTES;
    private static final int TAG_BITS = 128;
    private static final int KEY_BITS = 256;
    private static final int KEY_ROUNDS = 100_000;
    private static final int KNOWN_RUNS = 256;

    private final byte[] run = new byte[RUN_BYTES];
    private final AtomicLong count = new AtomicLong();
    private final SecretKeySpec shared;
    private final SecretKeySpec own;

    /** The keys of other runs, the latest used last; guarded by itself. */
    private final Map<ByteBuffer, SecretKeySpec> known = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<ByteBuffer, SecretKeySpec> eldest) {
            return size() > KNOWN_RUNS;
        }
    };

    /**
     * Makes a seal for one run.
     *
     * @param secret what all nodes know
     */
    FrameSeal(String secret) throws GeneralSecurityException {
        new SecureRandom().nextBytes(run);
        shared = key(secret);
        own = keyOf(run);
    }

    /** The key that a secret stands for. The salt is fixed: all nodes must come to the same key. */
    static SecretKeySpec key(String secret) throws GeneralSecurityException {
        byte[] salt = "smqtt cluster".getBytes(StandardCharsets.UTF_8);
        PBEKeySpec spec = new PBEKeySpec(secret.toCharArray(), salt, KEY_ROUNDS, KEY_BITS);
        SecretKeyFactory factory = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256");
        return new SecretKeySpec(factory.generateSecret(spec).getEncoded(), "AES");
    }

    private SecretKeySpec keyOf(byte[] ofRun) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(shared);
        return new SecretKeySpec(mac.doFinal(ofRun), "AES");
    }

    byte[] seal(byte[] frame) throws GeneralSecurityException {
        return seal(frame, 0, frame.length);
    }

    byte[] seal(byte[] bytes, int offset, int length) throws GeneralSecurityException {
        long number = count.incrementAndGet();
        byte[] sealed = new byte[HEADER_BYTES + length + TAG_BITS / 8];
        ByteBuffer.wrap(sealed).put(run).putLong(number);
        cipher(Cipher.ENCRYPT_MODE, own, number).doFinal(bytes, offset, length, sealed, HEADER_BYTES);
        return sealed;
    }

    /** What was sealed with the same secret, or null. */
    byte @Nullable [] open(byte[] sealed, int offset, int length) {
        if (length < HEADER_BYTES + TAG_BITS / 8) {
            return null;
        }
        try {
            ByteBuffer header = ByteBuffer.wrap(sealed, offset, HEADER_BYTES);
            byte[] ofRun = new byte[RUN_BYTES];
            header.get(ofRun);
            SecretKeySpec key = known(ofRun);
            return cipher(Cipher.DECRYPT_MODE, key, header.getLong())
                    .doFinal(sealed, offset + HEADER_BYTES, length - HEADER_BYTES);
        } catch (GeneralSecurityException e) {
            return null;
        }
    }

    private SecretKeySpec known(byte[] ofRun) throws GeneralSecurityException {
        ByteBuffer name = ByteBuffer.wrap(ofRun);
        synchronized (known) {
            SecretKeySpec key = known.get(name);
            if (key == null) {
                key = Arrays.equals(ofRun, run) ? own : keyOf(ofRun);
                known.put(name, key);
            }
            return key;
        }
    }

    private static Cipher cipher(int mode, SecretKeySpec key, long number) throws GeneralSecurityException {
        byte[] nonce = ByteBuffer.allocate(12).putLong(4, number).array();
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        return cipher;
    }
}
