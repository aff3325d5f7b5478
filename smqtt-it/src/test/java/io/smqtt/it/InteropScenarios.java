// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;

/** The scenarios that every client library must pass, for one library, protocol version and transport. */
final class InteropScenarios {

    private final ClientLibrary library;
    private final int version;
    private final Endpoint endpoint;
    private String prefix = "";

    private InteropScenarios(ClientLibrary library, int version, Endpoint endpoint) {
        this.library = library;
        this.version = version;
        this.endpoint = endpoint;
    }

    /** A tree of tests: the library over every transport and version it speaks. */
    static Stream<DynamicNode> of(ClientLibrary library, TestedBroker broker) {
        List<DynamicNode> nodes = new ArrayList<>();
        for (Transport transport : broker.transports()) {
            for (int version : library.versions().stream().sorted().toList()) {
                String name = library.name() + ", " + transport + ", protocol level " + version;
                nodes.add(DynamicContainer.dynamicContainer(name, tests(library, version, transport, broker)));
            }
        }
        return nodes.stream();
    }

    private static Stream<DynamicTest> tests(
            ClientLibrary library, int version, Transport transport, TestedBroker broker) {
        Map<String, Scenario> scenarios = new LinkedHashMap<>();
        scenarios.put("every QoS reaches a wildcard subscriber", InteropScenarios::everyQos);
        scenarios.put("a subscription lowers the QoS", InteropScenarios::loweredQos);
        scenarios.put("a retained message is kept and cleared", InteropScenarios::retained);
        scenarios.put("the will is sent when the connection breaks", InteropScenarios::will);
        scenarios.put("a session resumes with its queue", InteropScenarios::resume);
        if (version == 5) {
            scenarios.put("properties arrive unchanged and in order", InteropScenarios::properties);
            scenarios.put("a request gets its response", InteropScenarios::requestResponse);
            scenarios.put("messages expire in the queue", InteropScenarios::messageExpiry);
            scenarios.put("a shared subscription gets each message once", InteropScenarios::shared);
            scenarios.put("session expiry decides what is kept", InteropScenarios::sessionExpiry);
            scenarios.put("reason codes are exact", InteropScenarios::reasonCodes);
        }
        return scenarios.entrySet().stream()
                .map(scenario -> DynamicTest.dynamicTest(scenario.getKey(), () -> {
                    try {
                        scenario.getValue()
                                .run(new InteropScenarios(library, version, broker.endpoint(transport)).fresh());
                    } catch (Throwable failure) {
                        failure.addSuppressed(new AssertionError("broker" + broker.report()));
                        throw failure;
                    }
                }));
    }

    private InteropScenarios fresh() {
        prefix = UUID.randomUUID().toString().substring(0, 8);
        return this;
    }

    private ConnectRequest client(String role) {
        return new ConnectRequest(endpoint, version, prefix + "-" + role, true, 0, null);
    }

    private ClientLink connect(String role) throws Exception {
        return library.connect(client(role));
    }

    private String topic(String suffix) {
        return prefix + "/" + suffix;
    }

    private void expect(ClientLink link, Message... messages) throws Exception {
        for (Message message : messages) {
            assertThat(link.next().brief()).isEqualTo(message.brief());
        }
    }

    private void everyQos() throws Exception {
        ClientLink subscriber = connect("sub");
        ClientLink publisher = connect("pub");
        assertThat(subscriber.subscribe(topic("+/deep/#"), 2)).containsExactly(2);

        for (int qos = 0; qos <= 2; qos++) {
            publisher.publish(Message.of(topic("elsewhere"), "no", qos));
            publisher.publish(Message.of(topic(qos + "/deep"), "grüße " + qos, qos));
            expect(subscriber, Message.of(topic(qos + "/deep"), "grüße " + qos, qos));
        }
        subscriber.unsubscribe(topic("+/deep/#"));
        subscriber.subscribe(topic("end"), 0);
        publisher.publish(Message.of(topic("0/deep"), "unsubscribed", 1));
        publisher.publish(Message.of(topic("end"), "end", 1));

        expect(subscriber, Message.of(topic("end"), "end", 0));
        subscriber.disconnect();
        publisher.disconnect();
    }

    private void loweredQos() throws Exception {
        ClientLink link = connect("both");
        assertThat(link.subscribe(List.of(topic("low"), topic("mid")), List.of(0, 1)))
                .containsExactly(0, 1);

        link.publish(Message.of(topic("low"), "a", 2));
        expect(link, Message.of(topic("low"), "a", 0));
        link.publish(Message.of(topic("mid"), "b", 2));
        expect(link, Message.of(topic("mid"), "b", 1));
        link.disconnect();
    }

    private void retained() throws Exception {
        ClientLink publisher = connect("pub");
        publisher.publish(Message.of(topic("kept/x"), "kept", 1).retained());

        ClientLink first = connect("first");
        first.subscribe(topic("kept/#"), 2);
        expect(first, Message.of(topic("kept/x"), "kept", 1).retained());
        publisher.publish(Message.of(topic("kept/x"), "", 1).retained());
        expect(first, Message.of(topic("kept/x"), "", 1));

        ClientLink second = connect("second");
        second.subscribe(topic("kept/#"), 2);
        publisher.publish(Message.of(topic("kept/y"), "live", 1));
        expect(second, Message.of(topic("kept/y"), "live", 1));
        for (ClientLink link : List.of(publisher, first, second)) {
            link.disconnect();
        }
    }

    private void will() throws Exception {
        ClientLink watcher = connect("watch");
        watcher.subscribe(topic("will/+"), 1);
        ClientLink calm = library.connect(client("calm").with(Message.of(topic("will/calm"), "never", 1)));
        ClientLink victim = library.connect(client("victim").with(Message.of(topic("will/victim"), "gone", 1)));

        calm.disconnect();
        victim.cut();

        expect(watcher, Message.of(topic("will/victim"), "gone", 1));
        watcher.disconnect();
    }

    private void resume() throws Exception {
        ConnectRequest persistent = client("keep").resuming().expiringAfter(300);
        ClientLink first = library.connect(persistent);
        assertThat(first.sessionPresent()).isFalse();
        first.subscribe(topic("queue/#"), 2);
        first.disconnect();
        ClientLink publisher = connect("pub");
        for (int i = 0; i < 6; i++) {
            publisher.publish(Message.of(topic("queue/x"), "m" + i, 1 + i % 2));
        }

        ClientLink second = library.connect(persistent);

        assertThat(second.sessionPresent()).isEqualTo(version != 3); // MQTT 3.1 has no session present flag
        List<String> received = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            received.add(second.next().brief());
        }
        for (int qos = 1;
                qos <= 2;
                qos++) { // a client may hand out QoS 2 later than QoS 1: order is kept within each [MQTT-4.6.0-6]
            String ending = "qos " + qos;
            List<String> sent = Stream.of(qos - 1, qos + 1, qos + 3)
                    .map(i -> topic("queue/x") + " 'm" + i + "' " + ending)
                    .toList();
            assertThat(received).filteredOn(brief -> brief.endsWith(ending)).containsExactlyElementsOf(sent);
        }
        second.disconnect();
        ClientLink clean = connect("keep");
        assertThat(clean.sessionPresent()).isFalse();
        clean.disconnect();
        publisher.disconnect();
    }

    private void properties() throws Exception {
        ClientLink link = connect("both");
        link.subscribe(topic("#"), 1);
        String[] pairs = library.ordersUserProperties()
                ? new String[] {"b=1", "a=2", "b=3", "="}
                : new String[] {"b=1", "b=3", "a=2"};
        Message sent = Message.of(topic("p"), "ü", 1).with(pairs).text("text/plain");

        link.publish(sent);

        assertThat(link.next()).isEqualTo(sent);
        link.disconnect();
    }

    private void requestResponse() throws Exception {
        ClientLink asker = connect("ask");
        ClientLink answerer = connect("answer");
        asker.subscribe(topic("reply"), 1);
        answerer.subscribe(topic("request"), 1);

        asker.publish(Message.of(topic("request"), "6*7", 1).replyTo(topic("reply"), "00ff017f80"));
        Message request = answerer.next();
        String target = String.valueOf(request.responseTopic());
        answerer.publish(Message.of(target, "42", 1).replyTo(null, String.valueOf(request.correlation())));

        Message response = asker.next();
        assertThat(response.payload()).isEqualTo("42");
        assertThat(response.correlation()).isEqualTo("00ff017f80");
        asker.disconnect();
        answerer.disconnect();
    }

    private void messageExpiry() throws Exception {
        ConnectRequest persistent = client("keep").expiringAfter(300);
        ClientLink first = library.connect(persistent);
        first.subscribe(topic("#"), 1);
        first.disconnect();
        ClientLink publisher = connect("pub");
        publisher.publish(Message.of(topic("x"), "short", 1).expiringAfter(1));
        publisher.publish(Message.of(topic("x"), "long", 1).expiringAfter(100));
        await().pollDelay(Duration.ofMillis(2100)).until(() -> true);

        ClientLink second = library.connect(persistent.resuming());

        Message kept = second.next();
        assertThat(kept.payload()).isEqualTo("long");
        assertThat(kept.expiry()).isBetween(80L, 99L); // [MQTT-3.3.2-6]
        second.disconnectForgetting();
        publisher.disconnect();
    }

    private void shared() throws Exception {
        List<ClientLink> members = List.of(connect("one"), connect("two"));
        for (ClientLink member : members) {
            member.subscribe(List.of("$share/group/" + topic("work"), topic("end")), List.of(1, 1));
        }
        ClientLink publisher = connect("pub");

        for (int i = 0; i < 20; i++) {
            publisher.publish(Message.of(topic("work"), "job " + i, 1));
        }
        publisher.publish(Message.of(topic("end"), "end", 1));

        List<String> jobs = new ArrayList<>();
        for (ClientLink member : members) {
            for (Message message = member.next(); !message.payload().equals("end"); message = member.next()) {
                jobs.add(message.payload());
            }
            member.disconnect();
        }
        assertThat(jobs).hasSize(20).doesNotHaveDuplicates();
        publisher.disconnect();
    }

    private void sessionExpiry() throws Exception {
        ConnectRequest request = client("keep").resuming();
        library.connect(request).disconnect();
        ClientLink second = library.connect(request.expiringAfter(300));
        assertThat(second.sessionPresent()).as("after expiry 0").isFalse();
        second.disconnect();
        ClientLink third = library.connect(request.expiringAfter(300));
        assertThat(third.sessionPresent()).as("after expiry 300").isTrue();
        third.disconnectForgetting();
        ClientLink fourth = library.connect(request);
        assertThat(fourth.sessionPresent()).as("after DISCONNECT with expiry 0").isFalse();
        fourth.disconnect();
    }

    private void reasonCodes() throws Exception {
        ClientLink link = connect("codes");
        assertThat(link.subscribe(List.of(topic("a"), topic("b"), topic("c")), List.of(0, 1, 2)))
                .containsExactly(0, 1, 2);
        assertThat(link.publish(Message.of(topic("nobody"), "x", 1))).isEqualTo(0x10); // no matching subscribers
        assertThat(link.publish(Message.of(topic("a"), "x", 1))).isZero();
        assertThat(link.unsubscribe(topic("never"))).containsExactly(0x11); // no subscription existed
        assertThat(link.unsubscribe(topic("a"))).containsExactly(0);
        link.disconnect();
    }

    private interface Scenario {
        void run(InteropScenarios scenarios) throws Exception;
    }
}
