// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.security.GeneralSecurityException;
import java.security.Key;
import java.util.Arrays;
import java.util.Iterator;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.Message;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.logging.Log;
import org.jgroups.protocols.EncryptHeader;
import org.jgroups.protocols.SYM_ENCRYPT;
import org.jgroups.util.MessageBatch;
import org.jspecify.annotations.Nullable;

/**
 * Encrypts what the channel itself says with the secret of all nodes, drops what was not, and says so in words that name
 * the cause. What it decrypts is read by {@link WireMessages}. Any thread.
 */
final class SecretEncryption extends SYM_ENCRYPT {

    private static final int KEY_BITS = 256;
    private static final int IV_BYTES = 16;

    private final Log refusals;

    /**
     * Creates a protocol to be inserted and initialized.
     *
     * @param key what the secret stands for
     * @param refusals is told of each message of somebody without it, and limits itself
     */
    SecretEncryption(SecretKey key, Log refusals) {
        this.refusals = refusals;
        setId(ClassConfigurator.getProtocolId(SYM_ENCRYPT.class));
        setSecretKey(key);
        symAlgorithm("AES/CBC/PKCS5Padding");
        symKeylength(KEY_BITS);
        symIvLength(IV_BYTES);
    }

    @Override
    public @Nullable Object up(Message message) {
        if (isForeign(message)) {
            refuse(message.getSrc());
            return null;
        }
        return super.up(message);
    }

    @Override
    public void up(MessageBatch batch) {
        for (Iterator<Message> messages = batch.iterator(); messages.hasNext(); ) {
            if (isForeign(messages.next())) {
                messages.remove();
                refuse(batch.sender());
            }
        }
        if (!batch.isEmpty()) {
            super.up(batch);
        }
    }

    /** Whether a message is not encrypted, or with another key. There are no keys of before. */
    private boolean isForeign(Message message) {
        EncryptHeader header = message.getHeader(id);
        return header == null || !Arrays.equals(header.version(), symVersion());
    }

    @Override
    protected @Nullable Message _decrypt(@Nullable Cipher cipher, Key key, Message message, EncryptHeader header)
            throws Exception {
        if (!message.hasPayload()) {
            return message;
        }
        byte[] plain;
        try {
            plain = plain(cipher, key, message, header);
        } catch (GeneralSecurityException e) { // with the mark of the key, which goes in the clear, and without the key
            refuse(message.getSrc());
            return null;
        }
        return header.needsDeserialization() ? WireMessages.read(plain) : message.setArray(plain, 0, plain.length);
    }

    private byte[] plain(@Nullable Cipher cipher, Key key, Message message, EncryptHeader header) throws Exception {
        byte[] bytes = message.getArray();
        if (cipher == null) {
            return code(bytes, message.getOffset(), message.getLength(), header.iv(), true);
        }
        initCipher(cipher, Cipher.DECRYPT_MODE, key, header.iv());
        return cipher.doFinal(bytes, message.getOffset(), message.getLength());
    }

    private void refuse(@Nullable Address sender) {
        Object address = sender == null ? null : down_prot.down(new Event(Event.GET_PHYSICAL_ADDRESS, sender));
        refusals.warn(
                "somebody at %s does not have this node's cluster.secret: what it says is dropped",
                address == null ? "an unknown address" : address);
    }
}
