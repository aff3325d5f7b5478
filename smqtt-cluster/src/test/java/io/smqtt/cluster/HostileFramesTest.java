// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What somebody sends who got at the wire between nodes: noise, and what was said before. */
@Tag("slow")
class HostileFramesTest {

    private static final Duration WHILE = Duration.ofSeconds(5);

    private final Simulation simulation = new Simulation(24);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final List<Recorded> recorded = new ArrayList<>();
    private final SimulatedNode a = node("a");
    private final SimulatedNode b = node("b");
    private final SimulatedNode c = node("c");
    private final List<Logger> loggers = Stream.of(ClusterNode.class, Membership.class)
            .map(type -> (Logger) LoggerFactory.getLogger(type))
            .toList();
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    private record Recorded(SimulatedNetwork.Endpoint from, byte[] frame) {}

    private SimulatedNode node(String nodeId) {
        return new SimulatedNode(simulation, network, nodeId, 1, ClusterSettings.defaults());
    }

    @BeforeEach
    void live() {
        network.listen((from, to, frame) -> {
            if (to == a.process()) {
                recorded.add(new Recorded(from, frame));
            }
        });
        simulation.run(WHILE);
        for (int i = 0; i < 20; i++) {
            a.subscribe("to-a/" + i);
            b.subscribe("to-b/" + i);
            c.subscribe("$share/g/to-c/" + i);
            b.retain("kept/" + i, "first of b");
            c.retain("kept/" + i, "second of c");
        }
        simulation.run(WHILE);
        for (int i = 0; i < 20; i++) {
            b.publish("to-a/" + i, i, QoS.EXACTLY_ONCE, RouteTicket.NONE);
            c.publish("to-a/" + i, 100 + i, QoS.AT_MOST_ONCE, RouteTicket.NONE);
            b.unsubscribe("to-b/" + i % 10);
            connect(b, "client-" + i);
            simulation.run(Duration.ofMillis(100));
            connect(a, "client-" + i);
            simulation.run(Duration.ofMillis(100));
        }
        simulation.run(WHILE);
        a.retain("kept/0", "last of a");
        simulation.run(WHILE);
        network.listen((from, to, frame) -> {});
        lines.start();
        loggers.forEach(logger -> {
            logger.setLevel(Level.WARN);
            logger.addAppender(lines);
        });
    }

    @AfterEach
    void listenNoMore() {
        loggers.forEach(logger -> {
            logger.detachAppender(lines);
            logger.setLevel(Level.ERROR);
        });
    }

    private void connect(SimulatedNode node, String clientId) {
        ClientIdentity client = new ClientIdentity(
                clientId, null, InetSocketAddress.createUnresolved("client", 1), "", ProtocolVersion.MQTT_5, Set.of());
        node.claim(client, refusal -> {
            assertThat(refusal).isNull();
            node.clients().open(clientId);
            node.settled(client);
        });
    }

    /** All that a node knows, as a text. */
    private String state() {
        StringBuilder all = new StringBuilder();
        for (SimulatedNode node : List.of(a, b, c)) {
            all.append(node.nodeId())
                    .append(node.node().self())
                    .append(node.node().membership().reachable());
            for (SimulatedNode other : List.of(a, b, c)) {
                all.append(node.rowsOf(other.nodeId()));
            }
            all.append(node.tree()).append(node.arrivals());
            all.append(node.clients().sessions().keySet());
            node.node().membership().all().forEach(member -> all.append(member.identity()));
            all.append(node.node().counters().repairs()).append('\n');
        }
        return all.toString();
    }

    @Test
    void tenThousandFramesOfNoiseChangeNothing() {
        String before = state();
        List<Byte> types = GoldenFrames.typesThatAreRead();
        byte stale = FrameCodec.encode(new NodeIdentity("b", 1), new Frame.Stale(0), 0)[1];
        types.remove(Byte.valueOf(
                stale)); // a member that knows a later run of this node is believed, whatever number it says
        Random random = new Random(24);
        Peer stranger = new Peer() {};
        for (int i = 0; i < 10_000; i++) {
            byte[] frame = new byte[random.nextInt(400)];
            random.nextBytes(frame);
            if (i % 2 == 0 && frame.length > 6) { // looked at further
                frame[0] = Frame.VERSION;
                frame[1] = types.get(random.nextInt(types.size()));
                frame[2] = 0;
                frame[3] = 0;
                frame[4] = (byte) (frame.length - 6 >> 8);
                frame[5] = (byte) (frame.length - 6);
            }
            a.node().received(i % 3 == 0 ? b.process() : stranger, frame);
            simulation.run(Duration.ofMillis(1));
        }
        simulation.run(WHILE);

        assertThat(state()).isEqualTo(before);
        assertThat(a.node().counters().malformedFrames()).isGreaterThan(9_900);
        assertThat(lines.list).as("15 seconds of noise").hasSizeBetween(1, 3);
    }

    @Test
    void aThousandFramesOfBeforeChangeNothing() {
        String before = state();
        Random random = new Random(24);
        Peer stranger = new Peer() {};
        assertThat(recorded).hasSizeGreaterThan(200);
        for (int i = 0; i < 1_000; i++) {
            Recorded again = recorded.get(random.nextInt(recorded.size()));
            a.node().received(i % 2 == 0 ? again.from : stranger, again.frame.clone());
            simulation.run(Duration.ofMillis(5));
        }
        simulation.run(Duration.ofMinutes(5));

        assertThat(state()).isEqualTo(before);
        assertThat(a.node().counters().malformedFrames()).isZero();
        assertThat(lines.list).as("5 seconds of it, and 5 minutes after").hasSizeBetween(0, 3);
    }
}
