// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.MergeView;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.View;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.Discovery;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.FragHeader;
import org.jgroups.protocols.PingData;
import org.jgroups.protocols.PingHeader;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.UnicastHeader3;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.JoinRsp;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.NakAckHeader2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.ByteArray;
import org.jgroups.util.ByteArrayDataInputStream;
import org.jgroups.util.ByteArrayDataOutputStream;
import org.jgroups.util.Digest;
import org.jgroups.util.MutableDigest;
import org.jgroups.util.SeqnoList;
import org.jgroups.util.UUID;
import org.jgroups.util.Util;
import org.junit.jupiter.api.Test;

/** Frames that were said by a node or could have been, with bytes changed: whoever reads them allocates what has arrived, not what they claim. */
class MutatedFramesTest {

    private static final long SEED = 20_261_122;
    private static final int FRAMES = Integer.getInteger("smqtt.frames", 100_000);

    /** Objects of a message, of each header and of each address, for the shortest of them. */
    private static final int BYTES_FOR_ONE = 64;

    private static final int BYTES_AT_LEAST = 16 * 1024;
    private static final int TRIES = 5;
    private static final int HEAD = 3;

    /** Lends what is for subclasses only. */
    private static final class Membership extends GMS {

        static ByteArray said(View view, Digest digest) {
            return marshal(view, digest);
        }
    }

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Address from = UUID.randomUUID();
    private int refused;
    private final Address to = UUID.randomUUID();

    /** What a node says to somebody who joins. */
    private static List<byte[]> recorded() throws Exception {
        int port = LoopbackPorts.ofNode();
        short membership = ClassConfigurator.getProtocolId(GMS.class);
        List<byte[]> frames = new ArrayList<>();
        try (TransportNode node = new TransportNode("node", port, List.of(port), config -> config);
                Stranger joins = new Stranger(port, 9)) {
            Address address = joins.ask();
            joins.say(joins.addressed(new EmptyMessage(address)
                    .setFlag(Message.Flag.NO_RELIABILITY)
                    .putHeader(membership, new GMS.GmsHeader(GMS.GmsHeader.JOIN_REQ, joins.self))));
            while (frames.size() < 12) { // the view, and heartbeats after it
                frames.add(joins.frame());
            }
            assertThat(node.frames).isEmpty();
        }
        return frames;
    }

    private List<byte[]> built() throws Exception {
        View view = View.create(from, 7, from, to);
        MergeView merged = new MergeView(from, 8, List.of(from, to), List.of(view, View.create(to, 6, to)));
        Digest digest =
                new MutableDigest(new Address[] {from, to}).set(from, 3, 4).set(to, 5, 600);
        short membership = ClassConfigurator.getProtocolId(GMS.class);
        List<Message> all = new ArrayList<>();
        all.add(with(
                new BytesMessage(to, new byte[300]),
                UNICAST3.class,
                UnicastHeader3.createDataHeader(7, (short) 1, true)));
        all.add(with(
                new ObjectMessage(to, new SeqnoList(1_000, 7).add(9, 500)),
                UNICAST3.class,
                UnicastHeader3.createXmitReqHeader()));
        all.add(with(
                new ObjectMessage(null, new SeqnoList(64, 7).add(9)),
                NAKACK2.class,
                NakAckHeader2.createXmitRequestHeader(to)));
        all.add(with(
                new ObjectMessage(null, digest),
                STABLE.class,
                new STABLE.StableHeader(STABLE.StableHeader.STABILITY, view.getViewId())));
        all.add(with(new BytesMessage(to, new byte[100]), FRAG4.class, new FragHeader(5, 0, 3)));
        PingData data = new PingData(from, true, "name", new IpAddress(7_800)).mbrs(List.of(from, to));
        all.add(new BytesMessage(null)
                .setArray(Discovery.marshal(data, data))
                .putHeader(Stranger.PING_ID, new PingHeader(PingHeader.GET_MBRS_RSP).clusterName("smqtt")));
        all.add(new BytesMessage(to)
                .setArray(Util.streamableToBuffer(new JoinRsp(merged, digest)))
                .putHeader(membership, new GMS.GmsHeader(GMS.GmsHeader.JOIN_RSP)));
        for (View each : List.of(view, merged)) {
            all.add(new BytesMessage(null)
                    .setArray(Membership.said(each, digest))
                    .putHeader(membership, new GMS.GmsHeader(GMS.GmsHeader.VIEW)));
        }
        List<byte[]> frames = new ArrayList<>();
        for (Message message : all) {
            ByteArrayDataOutputStream one = new ByteArrayDataOutputStream(512, true);
            Util.writeMessage(message.setSrc(from), one, message.getDest() == null);
            frames.add(Arrays.copyOf(one.buffer(), one.position()));
        }
        ByteArrayDataOutputStream together = new ByteArrayDataOutputStream(512, true);
        Util.writeMessageList(to, from, new byte[] {'c'}, all, together, false);
        frames.add(Arrays.copyOf(together.buffer(), together.position()));
        return frames;
    }

    private static Message with(Message message, Class<?> protocol, org.jgroups.Header header) {
        return message.putHeader(ClassConfigurator.getProtocolId(protocol), header);
    }

    private static byte[] mutated(Random random, byte[] frame) {
        byte[] bytes = frame.clone();
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            int at = HEAD + random.nextInt(bytes.length - HEAD);
            switch (random.nextInt(5)) {
                case 0 -> bytes[at] = (byte) random.nextInt();
                case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 2 -> { // a large number
                    for (int i = at; i < Math.min(at + 4, bytes.length); i++) {
                        bytes[i] = (byte) (i == at ? 0x7F : 0xFF);
                    }
                }
                case 3 -> bytes = Arrays.copyOf(bytes, Math.max(HEAD + 1, at));
                default -> {
                    byte[] twice = Arrays.copyOf(bytes, bytes.length + 16);
                    System.arraycopy(bytes, at, twice, at, Math.min(16, bytes.length - at));
                    bytes = twice;
                }
            }
        }
        return bytes;
    }

    /** As the transport reads it, and then as the protocol whose header it has. */
    private static void read(byte[] frame) throws Exception {
        ByteArrayDataInputStream in = new ByteArrayDataInputStream(frame, 2, frame.length);
        boolean isList = (in.readByte() & 1) != 0;
        if (isList) {
            WireMessages.readBatch(in, false);
            return;
        }
        Message message = WireMessages.read(in);
        if (message instanceof BytesMessage && message.hasArray()) {
            ByteArray payload = new ByteArray(message.getArray());
            if (message.getHeader(Stranger.PING_ID) != null) {
                Discovery.deserialize(payload.getArray(), 0, payload.getLength());
            }
            GMS.GmsHeader membership = message.getHeader(ClassConfigurator.getProtocolId(GMS.class));
            if (membership != null && membership.getType() == GMS.GmsHeader.JOIN_RSP) {
                Util.streamableFromBuffer(JoinRsp::new, payload.getArray(), 0, payload.getLength());
            } else if (membership != null && membership.getType() == GMS.GmsHeader.VIEW) {
                GMS._readViewAndDigest(payload.getArray(), 0, payload.getLength());
            }
        }
    }

    private long allocated(byte[] frame) throws Exception {
        long before = threads.getCurrentThreadAllocatedBytes();
        try {
            read(frame);
        } catch (IOException | RuntimeException | ClassNotFoundException e) {
            refused++;
        }
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    @Test
    void readersAllocateWhatHasArrived() throws Exception {
        List<byte[]> frames = new ArrayList<>(recorded());
        List<byte[]> built = built();
        for (byte[] frame : built) {
            read(frame); // each of them is one that a node may say
        }
        frames.addAll(built);
        Random random = new Random(SEED);
        long most = 0;
        for (int i = 0; i < FRAMES; i++) {
            byte[] frame = mutated(random, frames.get(random.nextInt(frames.size())));
            long limit = BYTES_AT_LEAST + (long) BYTES_FOR_ONE * frame.length;
            long allocated = allocated(frame);
            for (int again = 0;
                    allocated >= limit && again < TRIES;
                    again++) { // classes are loaded once, and collectors disturb
                allocated = Math.min(allocated, allocated(frame));
            }
            assertThat(allocated)
                    .as("frame %d of seed %d, %s", i, SEED, Arrays.toString(frame))
                    .isLessThan(limit);
            most = Math.max(most, allocated);
        }
        assertThat(refused)
                .as("of %d frames, at most %d bytes for one", FRAMES, most)
                .isBetween(1, FRAMES - 1);
    }
}
