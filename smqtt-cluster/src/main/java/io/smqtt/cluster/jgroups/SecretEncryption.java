// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.io.IOException;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.Event;
import org.jgroups.Message;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.logging.Log;
import org.jgroups.protocols.EncryptHeader;
import org.jgroups.protocols.SYM_ENCRYPT;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ByteArray;
import org.jgroups.util.FastArray;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;

/**
 * Seals what the channel itself says, headers and all, with the secret of all nodes: the library's own encryption leaves headers
 * open and takes messages that have nothing else from anybody. What is not sealed is dropped, and said in words that name the
 * cause; what is, is read by {@link WireMessages}. Any thread.
 */
final class SecretEncryption extends Protocol {

    private final FrameSeal seal;
    private final Log refusals;

    /**
     * Creates a protocol to be inserted.
     *
     * @param seal of this run
     * @param refusals is told of each message of somebody without the secret, and limits itself
     */
    SecretEncryption(FrameSeal seal, Log refusals) {
        this.seal = seal;
        this.refusals = refusals;
        setId(ClassConfigurator.getProtocolId(SYM_ENCRYPT.class));
    }

    @Override
    public @Nullable Object down(Message message) {
        if (message.getSrc() == null) {
            message.setSrc(local_addr);
        }
        Message sealed;
        try {
            sealed = sealed(message);
        } catch (Exception e) { // declared by the channel; it sends again
            log.warn("a message was not sent", e);
            return null;
        }
        return down_prot.down(sealed);
    }

    /** The message itself stays as it is: it may be sent again. */
    private Message sealed(Message message) throws Exception {
        ByteArray plain = Util.messageToBuffer(message);
        int serialized = Message.Flag.SERIALIZED.value();
        return new BytesMessage(message.getDest(), seal.seal(plain.getArray(), plain.getOffset(), plain.getLength()))
                .setSrc(message.getSrc())
                .setFlag((short) (message.getFlags(false) & ~serialized), false)
                .setFlag(message.getFlags(true), true)
                .putHeader(id, new EncryptHeader((byte) 0, new byte[0], new byte[0]).needsDeserialization(true));
    }

    @Override
    public @Nullable Object up(Message message) {
        Message opened = opened(message);
        return opened == null ? null : up_prot.up(opened);
    }

    @Override
    public void up(MessageBatch batch) {
        var messages = (FastArray<Message>.FastIterator) batch.iterator();
        while (messages.hasNext()) {
            Message opened = opened(messages.next());
            if (opened == null) {
                messages.remove();
            } else {
                messages.replace(opened);
            }
        }
        if (!batch.isEmpty()) {
            up_prot.up(batch);
        }
    }

    /** What was sealed, or null. */
    private @Nullable Message opened(Message message) {
        boolean isSealed = message.getHeader(id) != null && message.hasArray();
        byte[] plain = isSealed ? seal.open(message.getArray(), message.getOffset(), message.getLength()) : null;
        if (plain == null) {
            refuse(message.getSrc());
            return null;
        }
        try {
            return WireMessages.read(plain);
        } catch (IOException | ClassNotFoundException | RuntimeException e) {
            log.warn("a message of a node was refused", e);
            return null;
        }
    }

    private void refuse(@Nullable Address sender) {
        Object address = sender == null ? null : down_prot.down(new Event(Event.GET_PHYSICAL_ADDRESS, sender));
        refusals.warn(
                "somebody at %s does not have this node's cluster.secret: what it says is dropped",
                address == null ? "an unknown address" : address);
    }
}
