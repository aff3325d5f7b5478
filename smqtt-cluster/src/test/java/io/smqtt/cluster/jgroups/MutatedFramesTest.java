// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.cluster.Mutations;
import io.smqtt.test.LoopbackPorts;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Frames that were said by a node or could have been, with bytes changed: whoever reads them allocates what has arrived, not what they claim. */
class MutatedFramesTest {

    private static final long SEED = 20_261_122;
    private static final int FRAMES = Integer.getInteger("smqtt.frames", 100_000);

    private static final int HEAD = 3;

    /** Lends what is for subclasses only. */
    private static final class Membership extends GMS {

        static ByteArray said(View view, Digest digest) {
            return marshal(view, digest);
        }
    }

    private final Address from = UUID.randomUUID();
    private final Address to = UUID.randomUUID();

    /** What a node says to somebody who joins. */
    private static List<byte[]> recorded() throws Exception {
        int port = LoopbackPorts.one();
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

    /** As the transport reads it, and then as the protocol whose header it has. */
    private static void read(byte[] frame) throws Exception {
        ByteArrayDataInputStream in = new ByteArrayDataInputStream(frame, 2, frame.length);
        boolean isList = (in.readByte() & 1) != 0;
        if (isList) {
            WireMessages.readBatch(in, false, WireProfile.CLUSTER);
            return;
        }
        Message message = WireMessages.read(in, WireProfile.CLUSTER);
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

    @Tag("slow")
    @Test
    void readersAllocateWhatHasArrived() throws Exception {
        List<byte[]> frames = new ArrayList<>(recorded());
        List<byte[]> built = built();
        for (byte[] frame : built) {
            read(frame); // each of them is one that a node may say
        }
        frames.addAll(built);
        Random random = new Random(SEED);
        Mutations mutations = new Mutations();
        for (int i = 0; i < FRAMES; i++) {
            byte[] frame = Mutations.mutated(random, frames.get(random.nextInt(frames.size())), HEAD);
            mutations.read(frame, MutatedFramesTest::read);
        }
        mutations.requireBoth();
    }
}
