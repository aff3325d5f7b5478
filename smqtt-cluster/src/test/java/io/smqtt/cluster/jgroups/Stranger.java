// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.Message;
import org.jgroups.Version;
import org.jgroups.blocks.cs.Connection;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.Discovery;
import org.jgroups.protocols.PingData;
import org.jgroups.protocols.PingHeader;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.TP;
import org.jgroups.protocols.TpHeader;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.ByteArrayDataOutputStream;
import org.jgroups.util.UUID;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;

/** Somebody who reaches the port of a node, and says on one connection whatever the channel's own serialization can write. */
final class Stranger implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final byte SINGLE = 0;
    private static final byte[] CLUSTER = {'s', 'm', 'q', 't', 't'};

    static final short TCP_ID = ClassConfigurator.getProtocolId(TP.class);
    static final short PING_ID = ClassConfigurator.getProtocolId(TCPPING.class);

    final Address self;
    final IpAddress claimed;
    private final Socket socket;
    private final DataOutputStream out;
    private final DataInputStream in;

    Stranger(int port, int claimedPort) throws IOException {
        this(port, claimedPort, null);
    }

    /** Somebody who has a secret, if it is not null. */
    Stranger(int port, int claimedPort, @Nullable SharedSecret secret) throws IOException {
        this(port, claimedPort, secret, UUID.randomUUID());
    }

    /** Another connection of somebody. */
    Stranger(int port, int claimedPort, @Nullable SharedSecret secret, Address self) throws IOException {
        this.self = self;
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout((int) PATIENCE.toMillis());
        if (secret == null) {
            out = new DataOutputStream(socket.getOutputStream());
            in = new DataInputStream(socket.getInputStream());
        } else {
            SealedLink link = SealedLink.dial(secret, socket.getInputStream(), socket.getOutputStream());
            out = new DataOutputStream(link.output());
            in = new DataInputStream(link.input());
        }
        claimed = new IpAddress(InetAddress.getLoopbackAddress(), claimedPort);
        ByteArrayDataOutputStream greeting = new ByteArrayDataOutputStream(64, true);
        greeting.write(Connection.cookie);
        greeting.writeShort(Version.version);
        greeting.writeShort(claimed.serializedSize());
        claimed.writeTo(greeting);
        out.write(greeting.buffer(), 0, greeting.position());
        out.flush();
    }

    /** Says one message. */
    void say(Message message) throws IOException {
        ByteArrayDataOutputStream bytes = new ByteArrayDataOutputStream(512, true);
        Util.writeMessage(message, bytes, message.getDest() == null);
        frame(bytes);
    }

    /** Says several messages to all in one frame. */
    void sayTogether(List<Message> messages) throws IOException {
        ByteArrayDataOutputStream bytes = new ByteArrayDataOutputStream(512, true);
        Util.writeMessageList(null, self, CLUSTER, messages, bytes, true);
        frame(bytes);
    }

    private void frame(ByteArrayDataOutputStream bytes) throws IOException {
        out.writeInt(bytes.position());
        out.write(bytes.buffer(), 0, bytes.position());
        out.flush();
    }

    /** Headers without which nothing is looked at. */
    Message addressed(Message message) {
        return message.setSrc(self).putHeader(TCP_ID, new TpHeader("smqtt"));
    }

    /**
     * Asks who is there, as a node that starts does, without overtaking what was said before.
     *
     * @return the address of the node, which has handled all that was said before
     */
    Address ask() throws Exception {
        PingData own = new PingData(self, false, "stranger", claimed);
        Message question = addressed(new BytesMessage(null).setArray(Discovery.marshal(own)))
                .putHeader(PING_ID, new PingHeader(PingHeader.GET_MBRS_REQ).clusterName("smqtt"));
        say(question);
        while (true) {
            int length = in.readInt();
            if (length == Connection.GRACEFUL_CLOSE) {
                throw new EOFException();
            }
            byte[] frame = new byte[length];
            in.readFully(frame);
            DataInputStream bytes = new DataInputStream(new ByteArrayInputStream(frame));
            bytes.readShort();
            List<Message> messages = (bytes.readByte() & TP.LIST) == SINGLE
                    ? List.of(Util.readMessage(bytes))
                    : Util.readMessageList(bytes, TCP_ID);
            for (Message message : messages) {
                PingHeader header = message.getHeader(PING_ID);
                if (header != null && header.type() == PingHeader.GET_MBRS_RSP) {
                    return message.getSrc();
                }
            }
        }
    }

    /** Waits until what was said before has been handled, or has made the node hang up. */
    void askOrEnd() throws Exception {
        try {
            ask();
        } catch (SocketTimeoutException e) {
            throw e;
        } catch (IOException e) { // hung up on
            socket.close();
        }
    }

    /** Says bytes as a frame. */
    void sayBytes(byte[] frame) throws IOException {
        out.writeInt(frame.length);
        out.write(frame);
        out.flush();
    }

    /** The next frame of the node. */
    byte[] frame() throws IOException {
        byte[] frame = new byte[in.readInt()];
        in.readFully(frame);
        return frame;
    }

    boolean isHungUpOn() {
        try {
            while (in.read() >= 0) {
                // what was said before
            }
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
