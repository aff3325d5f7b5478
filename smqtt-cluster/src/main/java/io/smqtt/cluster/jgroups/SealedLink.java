// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.spi.ClusterTransport.Refusal;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Authenticates and encrypts a connection between two ends with the same secret. From a peer without the secret at most the 68 bytes of
 * the proof are read.
 *
 * <ol>
 *   <li>The accepting end sends four magic bytes of this protocol and a random number of 32 bytes.
 *   <li>The dialling end sends the same four bytes, its own random number, and the HMAC of both numbers with the secret.
 *   <li>The accepting end sends another HMAC of both, or 32 zero bytes if it refuses the other end's. So a dialling attacker gets no data
 *   for guessing the secret.
 * </ol>
 *
 * <p>After that each direction has its own key for this connection, and consists of records: length (4 bytes), and at most {@value
 * #RECORD_BYTES} bytes encrypted with AES-256-GCM. Records are numbered, so a record that is changed, missing, repeated or from another
 * connection ends the connection. Each stream is for one thread at a time; any thread may write and flush.
 */
final class SealedLink {

    /** The maximum plain bytes of a record: a bundle of messages fits into one. */
    static final int RECORD_BYTES = 64 * 1024;

    private static final byte[] PROTOCOL = {'s', 'm', 'q', 1};

    /** The beginning of this protocol as a number: what a node without a secret reads as the length of a frame. */
    static final int FIRST_BYTES = ByteBuffer.wrap(PROTOCOL).getInt();

    private static final int NUMBER_BYTES = 32;
    private static final byte[] REFUSED = new byte[NUMBER_BYTES];
    private static final int TAG_BYTES = 16;
    private static final int NONCE_BYTES = 12;
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final String DIALLER = "proof of the dialling end";
    private static final String ACCEPTOR = "proof of the accepting end";
    private static final String TO_ACCEPTOR = "key to the accepting end";
    private static final String TO_DIALLER = "key to the dialling end";

    private final InputStream in;
    private final OutputStream out;

    private SealedLink(SecretKeySpec incoming, InputStream in, SecretKeySpec outgoing, OutputStream out)
            throws GeneralSecurityException {
        this.in = new Opening(incoming, in);
        this.out = new Sealing(outgoing, out);
    }

    /** The data of the other end. */
    InputStream input() {
        return in;
    }

    /** The data of this end; sent by flush, or when a record is full. */
    OutputStream output() {
        return out;
    }

    /**
     * Runs the handshake of an accepted connection. Blocks.
     *
     * @throws EOFException if the other end has closed it without a byte
     * @throws RefusedException if the other end does not have the secret, or has closed it too early
     */
    static SealedLink accept(SharedSecret secret, InputStream in, OutputStream out) throws IOException {
        byte[] own = number();
        out.write(ByteBuffer.allocate(PROTOCOL.length + NUMBER_BYTES)
                .put(PROTOCOL)
                .put(own)
                .array());
        out.flush();
        byte[] other = readNumber(in);
        try {
            if (!MessageDigest.isEqual(secret.derive(DIALLER, own, other), exactly(in, NUMBER_BYTES))) {
                throw refused(out);
            }
            out.write(secret.derive(ACCEPTOR, own, other));
            out.flush();
            return new SealedLink(
                    key(secret.derive(TO_ACCEPTOR, own, other)), in, key(secret.derive(TO_DIALLER, own, other)), out);
        } catch (GeneralSecurityException e) {
            throw new IOException("this JVM does not support AES-256-GCM", e);
        }
    }

    /**
     * Runs the handshake of a dialled connection. Blocks.
     *
     * @throws EOFException if the other end has closed it without a byte
     * @throws RefusedException if the other end does not have the secret, or has closed it too early
     */
    static SealedLink dial(SharedSecret secret, InputStream in, OutputStream out) throws IOException {
        byte[] other = readNumber(in);
        byte[] own = number();
        try {
            out.write(ByteBuffer.allocate(PROTOCOL.length + 2 * NUMBER_BYTES)
                    .put(PROTOCOL)
                    .put(own)
                    .put(secret.derive(DIALLER, other, own))
                    .array());
            out.flush();
            byte[] proof = exactly(in, NUMBER_BYTES);
            if (!MessageDigest.isEqual(secret.derive(ACCEPTOR, other, own), proof)) {
                String details = Arrays.equals(proof, REFUSED) ? "refused by the peer" : "wrong proof";
                throw new RefusedException(Refusal.AUTHENTICATION, details);
            }
            return new SealedLink(
                    key(secret.derive(TO_DIALLER, other, own)), in, key(secret.derive(TO_ACCEPTOR, other, own)), out);
        } catch (GeneralSecurityException e) {
            throw new IOException("this JVM does not support AES-256-GCM", e);
        }
    }

    private static byte[] number() {
        byte[] number = new byte[NUMBER_BYTES];
        RANDOM.nextBytes(number);
        return number;
    }

    private static byte[] readNumber(InputStream in) throws IOException {
        byte[] protocol = in.readNBytes(PROTOCOL.length);
        if (protocol.length == 0) {
            throw new EOFException("before the handshake");
        }
        if (!Arrays.equals(protocol, 0, protocol.length, PROTOCOL, 0, protocol.length)) {
            throw new RefusedException(Refusal.AUTHENTICATION, "no handshake with a secret");
        }
        requireAll(protocol.length, PROTOCOL.length);
        return exactly(in, NUMBER_BYTES);
    }

    private static byte[] exactly(InputStream in, int count) throws IOException {
        byte[] bytes = in.readNBytes(count);
        requireAll(bytes.length, count);
        return bytes;
    }

    private static void requireAll(int count, int expected) throws RefusedException {
        if (count < expected) {
            throw new RefusedException(Refusal.ABORTED, "after " + count + " of " + expected + " bytes");
        }
    }

    /** Sends the refusal to the dialling end; without an answer this node would look failed. */
    private static RefusedException refused(OutputStream out) {
        RefusedException refused = new RefusedException(Refusal.AUTHENTICATION, "wrong proof");
        try {
            out.write(REFUSED);
            out.flush();
        } catch (IOException e) {
            refused.addSuppressed(e);
        }
        return refused;
    }

    private static SecretKeySpec key(byte[] bytes) {
        return new SecretKeySpec(bytes, "AES");
    }

    private static GCMParameterSpec nonce(long number) {
        byte[] nonce = ByteBuffer.allocate(NONCE_BYTES)
                .putLong(NONCE_BYTES - Long.BYTES, number)
                .array();
        return new GCMParameterSpec(TAG_BYTES * Byte.SIZE, nonce);
    }

    private static Cipher cipher() throws GeneralSecurityException {
        return Cipher.getInstance("AES/GCM/NoPadding");
    }

    /** Buffers written data, and sends it as records. */
    private static final class Sealing extends OutputStream {

        private final SecretKeySpec key;
        private final Cipher cipher = cipher();
        private final OutputStream target;

        // guarded by this
        private final byte[] plain = new byte[RECORD_BYTES];
        private final byte[] sealed = new byte[Integer.BYTES + RECORD_BYTES + TAG_BYTES];
        private int length;
        private long records;

        Sealing(SecretKeySpec key, OutputStream target) throws GeneralSecurityException {
            this.key = key;
            this.target = target;
        }

        @Override
        public void write(int single) throws IOException {
            write(new byte[] {(byte) single}, 0, 1);
        }

        @Override
        public synchronized void write(byte[] bytes, int offset, int count) throws IOException {
            int from = offset;
            int left = count;
            while (left > 0) {
                int part = Math.min(left, RECORD_BYTES - length);
                System.arraycopy(bytes, from, plain, length, part);
                length += part;
                from += part;
                left -= part;
                if (length == RECORD_BYTES) {
                    send();
                }
            }
        }

        @Override
        public synchronized void flush() throws IOException {
            if (length > 0) {
                send();
            }
            target.flush();
        }

        private void send() throws IOException {
            try {
                cipher.init(Cipher.ENCRYPT_MODE, key, nonce(records++));
                int bytes = cipher.doFinal(plain, 0, length, sealed, Integer.BYTES);
                ByteBuffer.wrap(sealed).putInt(0, bytes);
                length = 0;
                target.write(sealed, 0, Integer.BYTES + bytes);
            } catch (GeneralSecurityException e) {
                throw new IOException("a record was not sealed", e);
            }
        }
    }

    /** Reads records, and returns their content. */
    private static final class Opening extends InputStream {

        private final SecretKeySpec key;
        private final Cipher cipher = cipher();
        private final DataInputStream source;
        private final byte[] sealed = new byte[RECORD_BYTES + TAG_BYTES];
        private final byte[] plain = new byte[RECORD_BYTES];
        private int position;
        private int limit;
        private long records;

        Opening(SecretKeySpec key, InputStream source) throws GeneralSecurityException {
            this.key = key;
            this.source = new DataInputStream(new BufferedInputStream(source));
        }

        @Override
        public int read() throws IOException {
            return position < limit || open() ? plain[position++] & 0xFF : -1;
        }

        @Override
        public int read(byte[] bytes, int offset, int count) throws IOException {
            if (count == 0) {
                return 0;
            }
            if (position == limit && !open()) {
                return -1;
            }
            int part = Math.min(count, limit - position);
            System.arraycopy(plain, position, bytes, offset, part);
            position += part;
            return part;
        }

        private boolean open() throws IOException {
            int length;
            try {
                length = source.readInt();
            } catch (EOFException e) {
                return false;
            }
            if (length <= TAG_BYTES || length > sealed.length) {
                throw new RefusedException(Refusal.FRAME, "a record of " + length + " bytes");
            }
            source.readFully(sealed, 0, length);
            try {
                cipher.init(Cipher.DECRYPT_MODE, key, nonce(records++));
                limit = cipher.doFinal(sealed, 0, length, plain, 0);
                position = 0;
            } catch (GeneralSecurityException e) {
                throw new RefusedException(Refusal.FRAME, "a record was changed");
            }
            return true;
        }
    }
}
