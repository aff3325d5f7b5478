// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.ClusterConfigBuilder;
import io.smqtt.spi.ClusterTransport.Refusal;
import io.smqtt.test.LoopbackPorts;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jgroups.Address;
import org.jgroups.BatchMessage;
import org.jgroups.BytesMessage;
import org.jgroups.CompositeMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.FragmentedMessage;
import org.jgroups.Message;
import org.jgroups.NioMessage;
import org.jgroups.ObjectMessage;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.FragHeader;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.UnicastHeader3;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.NakAckHeader2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.util.SizeStreamable;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Bytes of somebody who reaches the port of a running node. */
class ForeignBytesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** The first of the ports that strangers claim. Nothing listens there. */
    private static final int CLAIMED_PORT = 600;

    private static final String SECRET = "0123456789abcdef-shared";
    private static final UnaryOperator<ClusterConfigBuilder> WITH_SECRET = config -> config.secret(SECRET);

    /** Objects that came out of bytes, of the classes below. */
    private static final AtomicInteger MADE = new AtomicInteger();

    @RegisterExtension
    final ShownLines log = new ShownLines();

    @BeforeEach
    void countAnew() {
        MADE.set(0);
    }

    /** What Java's serialization makes of bytes. */
    static final class Serialized implements Serializable {

        private static final long serialVersionUID = 1;

        private void readObject(ObjectInputStream in) {
            MADE.incrementAndGet();
        }
    }

    /** What a class by its name becomes. */
    public static final class Named implements SizeStreamable {

        private boolean isCounted = true;

        @Override
        public int serializedSize() {
            return 0;
        }

        @Override
        public void writeTo(DataOutput out) {}

        @Override
        public void readFrom(DataInput in) {
            if (isCounted) {
                MADE.incrementAndGet();
                isCounted = false;
            }
        }
    }

    /** Messages that hold an object for whoever reads them as the channel's library does. */
    private static List<Message> hostile() throws Exception {
        short fragments = ClassConfigurator.getProtocolId(FRAG4.class);
        short stable = ClassConfigurator.getProtocolId(STABLE.class);
        short multicast = ClassConfigurator.getProtocolId(NAKACK2.class);
        short unicast = ClassConfigurator.getProtocolId(UNICAST3.class);
        List<Message> all = new ArrayList<>();
        all.add(new ObjectMessage(null, new Serialized()));
        all.add(new ObjectMessage(null, (SizeStreamable) new Named()));
        all.add(new CompositeMessage(null, new ObjectMessage(null, new Serialized())));
        all.add(new BatchMessage(null, null, new Message[] {new ObjectMessage(null, new Serialized())}, 1));
        Message cut = new ObjectMessage(null, new Serialized());
        all.add(new FragmentedMessage(cut, 0, cut.size())
                .putHeader(fragments, new FragHeader(1, 0, 1).setOriginalType(Message.OBJ_MSG)));
        for (Message bytes : List.of(serialized(new BytesMessage(null)), serialized(new NioMessage(null)))) {
            all.add(bytes.copy(true, true)
                    .putHeader(stable, new STABLE.StableHeader(STABLE.StableHeader.STABILITY, null)));
            all.add(bytes.copy(true, true)
                    .putHeader(multicast, NakAckHeader2.createXmitRequestHeader(org.jgroups.util.UUID.randomUUID())));
            all.add(bytes.copy(true, true).putHeader(unicast, UnicastHeader3.createXmitReqHeader()));
        }
        return all;
    }

    private static Message serialized(Message message) throws Exception {
        byte[] bytes = Util.objectToByteBuffer(new Serialized());
        return message.setArray(bytes, 0, bytes.length).setFlag(Message.Flag.SERIALIZED);
    }

    @Test
    void whatAStrangerSaysBecomesNoObject() throws Exception {
        strangersSayAll(config -> config, null);
    }

    @Tag("slow")
    @Test
    void whatIsSaidWithTheSecretBecomesNoObject() throws Exception {
        strangersSayAll(WITH_SECRET, new SharedSecret(SECRET));
    }

    private static void strangersSayAll(UnaryOperator<ClusterConfigBuilder> more, @Nullable SharedSecret secret)
            throws Exception {
        int port = LoopbackPorts.one();
        try (TransportNode node = new TransportNode("node", port, List.of(port), more)) {
            int claimed = CLAIMED_PORT; // the node may not have seen the end of the stranger before
            for (Message message : hostile()) {
                Address address;
                try (Stranger toAll = new Stranger(port, claimed++, secret)) {
                    address = toAll.ask();
                    toAll.say(toAll.addressed(message));
                    toAll.askOrEnd();
                }
                try (Stranger together = new Stranger(port, claimed++, secret)) {
                    together.sayTogether(List.of(together.addressed(message)));
                    together.askOrEnd();
                }
                try (Stranger toOne = new Stranger(port, claimed++, secret)) {
                    toOne.say(toOne.addressed(message.setDest(address)));
                    toOne.askOrEnd();
                }
                assertThat(MADE).as("%s", message).hasValue(0);
            }
            assertThat(node.frames).isEmpty();
        }
    }

    @Test
    void nobodyWithoutTheSecretIsHeard() throws Exception {
        int port = LoopbackPorts.one();
        SharedSecret another = new SharedSecret("another secret of strangers");
        try (TransportNode node = new TransportNode("node", port, List.of(port), WITH_SECRET)) {
            int before = log.warnings().size();
            for (int i = 0; i < 200; i++) {
                try (Stranger open = new Stranger(port, CLAIMED_PORT)) {
                    assertThat(open.isHungUpOn()).isTrue();
                }
                assertThatThrownBy(() -> new Stranger(port, CLAIMED_PORT, another).close())
                        .isInstanceOf(IOException.class);
            }
            await().atMost(PATIENCE).until(() -> node.refused.size() == 400);
            List<String> said = log.warnings().subList(before, log.warnings().size());
            assertThat(said)
                    .hasSizeBetween(1, 20)
                    .anySatisfy(line -> assertThat(line)
                            .startsWith("rejected cluster connection from 127.0.0.1:")
                            .contains(": authentication failed (different cluster.secret?)"));
            assertThat(node.refused).containsOnly(Refusal.AUTHENTICATION);
            assertThat(node.peers).isEmpty();
        }
    }

    @Tag("slow")
    @Test
    void onlyWhoHasTheSecretJoins() throws Exception {
        int port = LoopbackPorts.one();
        short membership = ClassConfigurator.getProtocolId(GMS.class);
        try (TransportNode node = new TransportNode("node", port, List.of(port), WITH_SECRET);
                Stranger insider = new Stranger(port, CLAIMED_PORT, new SharedSecret(SECRET))) {
            Address address = insider.ask();
            insider.say(insider.addressed(new EmptyMessage(address)
                    .setFlag(Message.Flag.NO_RELIABILITY)
                    .putHeader(membership, new GMS.GmsHeader(GMS.GmsHeader.JOIN_REQ, insider.self))));
            await().atMost(PATIENCE).until(() -> node.peers.size() == 1);
        }
    }

    @Test
    void aNodeThatNamesAnotherSenderIsHungUpOn() throws Exception {
        int port = LoopbackPorts.one();
        try (TransportNode node = new TransportNode("node", port, List.of(port), config -> config);
                Stranger stranger = new Stranger(port, CLAIMED_PORT)) {
            stranger.ask();
            stranger.say(stranger.addressed(new EmptyMessage()).setSrc(org.jgroups.util.UUID.randomUUID()));
            assertThat(stranger.isHungUpOn()).isTrue();
            assertThat(node.refused).containsExactly(Refusal.FRAME);
        }
    }

    @Tag("slow")
    @Test
    void whoSaysNothingIsHungUpOnAndKeepsNobodyOut() throws Exception {
        int port = LoopbackPorts.one();
        List<Socket> silent = new ArrayList<>();
        try (TransportNode node = new TransportNode("node", port, List.of(port), config -> config)) {
            for (int i = 0; i < 3 * AdmittingSocket.MAXIMUM_HANDSHAKES; i++) {
                silent.add(new Socket(InetAddress.getLoopbackAddress(), port));
            }
            try (Stranger asks = new Stranger(port, CLAIMED_PORT)) {
                assertThat(asks.ask()).isNotNull();
            }
            for (Socket socket : silent) {
                socket.setSoTimeout((int) PATIENCE.toMillis());
                assertThat(ended(socket)).isTrue();
            }
            assertThat(node.peers).isEmpty();
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    private static boolean ended(Socket socket) {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Tag("slow")
    @Test
    void theEndOfOneConnectionLeavesAnotherOneOfTheSameSenderAlone() throws Exception {
        int port = LoopbackPorts.one();
        short unicast = ClassConfigurator.getProtocolId(UNICAST3.class);
        try (TransportNode node = new TransportNode("node", port, List.of(port), config -> config);
                Stranger stays = new Stranger(port, CLAIMED_PORT)) {
            Address address = stays.ask();
            stays.say(stays.addressed(new BytesMessage(address, "first".getBytes(StandardCharsets.UTF_8)))
                    .putHeader(unicast, UnicastHeader3.createDataHeader(1, (short) 1, true)));
            await().atMost(PATIENCE).until(() -> node.frames.contains("first"));
            try (Stranger goes = new Stranger(port, CLAIMED_PORT + 1, null, stays.self)) {
                goes.ask();
                assertThat(readers(port)).isEqualTo(2);
            }
            await().atMost(PATIENCE).until(() -> readers(port) == 1);

            stays.say(stays.addressed(new BytesMessage(address, "second".getBytes(StandardCharsets.UTF_8)))
                    .putHeader(unicast, UnicastHeader3.createDataHeader(2, (short) 1, false)));
            await().atMost(PATIENCE).until(() -> node.frames.contains("second"));
        }
    }

    @Test
    void nodesWithDifferentSecretsSaySo() throws Exception {
        List<Integer> ports = LoopbackPorts.some(2);
        try (TransportNode one = new TransportNode("one", ports.get(0), ports, WITH_SECRET);
                TransportNode other = new TransportNode(
                        "other", ports.get(1), ports, config -> config.secret("another secret of others"))) {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(log.warnings())
                            .anySatisfy(line -> assertThat(line)
                                    .startsWith("rejected cluster connection from 127.0.0.1:")
                                    .contains(": authentication failed (different cluster.secret?)"))
                            .anySatisfy(line -> assertThat(line)
                                    .matches("cluster connection to 127.0.0.1:(" + ports.get(0) + '|' + ports.get(1)
                                            + ") failed: authentication failed .different cluster.secret.*")));
            assertThat(one.peers).isEmpty();
            assertThat(other.peers).isEmpty();
        }
    }

    @Tag("slow")
    @Test
    void strangersGetABoundedNumberOfThreads() throws Exception {
        int port = LoopbackPorts.one();
        List<Stranger> strangers = new ArrayList<>();
        try (TransportNode node = new TransportNode("node", port, List.of(port), config -> config)) {
            for (int i = 0; i < 3 * PlainTcp.MAXIMUM_STRANGERS; i++) {
                strangers.add(new Stranger(port, 10_000 + i));
            }
            assertThat(strangers.get(0).isHungUpOn()).isTrue();
            strangers.get(strangers.size() - 1).ask(); // all have been greeted
            await().atMost(PATIENCE).until(() -> readers(port) <= PlainTcp.MAXIMUM_STRANGERS);
            assertThat(node.peers).isEmpty();
        } finally {
            strangers.forEach(Stranger::close);
        }
    }

    /** Threads that read what comes to a port. */
    private static long readers(int port) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("Connection.Receiver [127.0.0.1:" + port + " "))
                .count();
    }
}
