// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.Broker;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.MqttBroker;
import io.smqtt.test.OfBroker;
import io.smqtt.test.RawClient;
import io.smqtt.test.TestBroker;
import io.smqtt.test.wire.MqttProxy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** What people read who asked for what cannot be, and what is left behind. The nested classes are run by the tests only. */
class MqttBrokerFailuresTest {

    @MqttBroker(
            value = "bad",
            properties = {"limits.max-packet-bytez = 1", "mqtt.max-qos = 9"})
    static class WrongKeys {

        @Test
        void never(TestBroker broker) {
            assertThat(broker).isNull();
        }
    }

    @MqttBroker(configure = "nowhere")
    static class NoSuchMethod {

        @Test
        void never(TestBroker broker) {
            assertThat(broker).isNull();
        }
    }

    @MqttBroker
    @MqttBroker(standingClock = true)
    static class SameName {

        @Test
        void never(TestBroker broker) {
            assertThat(broker).isNull();
        }
    }

    @MqttBroker("a")
    @MqttBroker("b")
    static class Ambiguous {

        @Test
        void never(Broker broker) {
            assertThat(broker).isNull();
        }
    }

    @MqttBroker
    static class TooEarly {

        TooEarly(TestBroker broker) {
            assertThat(broker).isNull();
        }

        @Test
        void never() {}
    }

    @MqttBroker("each")
    @MqttBroker(value = "all", lifetime = MqttBroker.Lifetime.CLASS)
    static class Leaving {

        @Test
        void clientsBehind(@OfBroker("each") TestBroker each, @OfBroker("all") TestBroker all) {
            for (TestBroker broker : List.of(each, all)) {
                RawClient through = RawClient.to(broker.proxy().address(), ProtocolVersion.MQTT_5);
                through.connect("left");
            }
        }

        @Test
        void aFailure(@OfBroker("each") MqttProxy proxy) {
            assertThat(proxy).as("fails").isNull();
        }
    }

    private static TestExecutionSummary run(Class<?> type) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(type))
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, listener);
        return listener.getSummary();
    }

    private static String failureOf(Class<?> type) {
        TestExecutionSummary summary = run(type);
        assertThat(summary.getFailures()).hasSize(1);
        return Objects.requireNonNull(
                summary.getFailures().get(0).getException().getMessage());
    }

    @Test
    void wrongConfigurationIsToldWithAllProblems() {
        assertThat(failureOf(WrongKeys.class))
                .startsWith("the MQTT broker 'bad' of " + WrongKeys.class.getName() + " did not start: ")
                .contains("limits.max-packet-bytez")
                .contains("limits.max-packet-bytes")
                .contains("mqtt.max-qos");
    }

    @Test
    void aMethodThatIsNotThereIsNamed() {
        assertThat(failureOf(NoSuchMethod.class)).contains("has no method nowhere(TestBroker.Builder)");
    }

    @Test
    void brokersNeedNames() {
        assertThat(failureOf(SameName.class)).contains("needs a name of its own");
        assertThat(failureOf(Ambiguous.class)).contains("which MQTT broker? @OfBroker tells: [a, b]");
        assertThat(failureOf(TooEarly.class)).contains("it starts after constructors");
    }

    @Test
    void nothingIsLeftBehind() {
        Set<Thread> before = threads();

        assertThat(run(Leaving.class).getTestsFailedCount()).isEqualTo(1);
        run(WrongKeys.class);
        TestBroker closedTwice = TestBroker.start();
        closedTwice.close();
        closedTwice.close();

        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(threads())
                        .filteredOn(thread -> !before.contains(thread))
                        .isEmpty());
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("(smqtt|mqtt-proxy).*"))
                .collect(Collectors.toSet());
    }
}
