// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.assertj.core.api.InstanceOfAssertFactories.map;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.smqtt.config.BrokerConfig;
import io.smqtt.metric.MessageTracing;
import io.smqtt.test.RawClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.actuate.autoconfigure.context.properties.ConfigurationPropertiesReportEndpointAutoConfiguration;
import org.springframework.boot.actuate.context.properties.ConfigurationPropertiesReportEndpoint;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.ConfigurationPropertiesAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What operators see of the broker: health, endpoint, meters. */
@Timeout(120)
class ActuatorTest {

    private final ApplicationContextRunner runner = Contexts.runner()
            .withPropertyValues("management.endpoints.web.exposure.include=smqtt", "smqtt.management.sys-interval=0s")
            .withPropertyValues("spring.main.cloud-platform=none", "management.endpoints.jmx.exposure.include=smqtt")
            .withPropertyValues("spring.jmx.enabled=true");

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }

        @MqttListener(filter = "heard/#")
        void listen(String payload) {}
    }

    @Test
    void healthFollowsTheBroker() {
        runner.run(context -> {
            HealthIndicator indicator = context.getBean("smqttHealthIndicator", HealthIndicator.class);
            Health up = indicator.health();
            assertThat(up.getStatus()).isEqualTo(Status.UP);
            assertThat(up.getDetails()).containsEntry("listeners", "bound").containsEntry("store", "healthy");

            context.getBean(BrokerLifecycle.class).stop();

            assertThat(indicator.health().getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
        });
    }

    @Test
    void healthCanBeSwitchedOff() {
        runner.withPropertyValues("management.health.smqtt.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnConfig {

        @Bean
        BrokerConfig config(SmqttProperties properties) {
            return properties.broker().toBuilder().eventLoops(2).build();
        }
    }

    @Test
    void configpropsListsWhatTheBrokerRunsWithAndNoSecret() {
        ApplicationContextRunner reported = runner.withConfiguration(AutoConfigurations.of(
                        ConfigurationPropertiesAutoConfiguration.class,
                        ConfigurationPropertiesReportEndpointAutoConfiguration.class))
                .withPropertyValues(
                        "management.endpoints.jmx.exposure.include=configprops",
                        "management.endpoint.configprops.show-values=always",
                        "smqtt.limits.max-in-flight=7",
                        "smqtt.cluster.secret=0123456789abcdef",
                        "smqtt.spring.listener-threads=3");
        reported.run(context -> {
            Map<String, Object> properties = reported(context);

            assertThat(properties).containsEntry("enabled", "true").containsEntry("event-loops", "1");
            assertThat(properties.get("limits"))
                    .asInstanceOf(map(String.class, Object.class))
                    .containsEntry("max-in-flight", "7")
                    .containsEntry("max-packet-bytes", "1MiB");
            assertThat(properties.get("spring"))
                    .asInstanceOf(map(String.class, Object.class))
                    .containsEntry("listener-threads", "3");
            assertThat(properties.get("management"))
                    .asInstanceOf(map(String.class, Object.class))
                    .doesNotContainKey("port");
            assertThat(properties.toString()).contains("secret=***").doesNotContain("0123456789abcdef");
            assertThat(context.getBean(SmqttProperties.class).broker().limits().maxInFlight())
                    .isEqualTo(7);
        });
        reported.withUserConfiguration(OwnConfig.class)
                .run(context -> assertThat(reported(context)).containsEntry("event-loops", "2"));
    }

    private static Map<String, Object> reported(ApplicationContext context) {
        return context.getBean(ConfigurationPropertiesReportEndpoint.class)
                .configurationPropertiesWithPrefix("smqtt")
                .getContexts()
                .values()
                .iterator()
                .next()
                .getBeans()
                .get("smqttProperties")
                .getProperties();
    }

    @Test
    void theEndpointShowsClientsAndSubscriptions() {
        runner.withUserConfiguration(Application.class).run(context -> {
            SmqttEndpoint endpoint = context.getBean(SmqttEndpoint.class);
            try (RawClient client = Contexts.client(context)) {
                client.connect("c1");
                client.subscribe("a/+", 1);

                assertThat(endpoint.summary()).containsEntry("running", true).containsEntry("subscriptions", 2L);
                assertThat(entries(endpoint, "clients", "c1"))
                        .singleElement()
                        .satisfies(entry -> assertThat(entry)
                                .containsEntry("clientid", "c1")
                                .containsEntry("connected", true)
                                .containsEntry("subscriptions_cnt", 1));
                assertThat(entries(endpoint, "clients", null)).hasSize(1); // not the listener method
                assertThat(entries(endpoint, "clients", "other")).isEmpty();
                assertThat(entries(endpoint, "subscriptions", "a/"))
                        .singleElement()
                        .satisfies(entry -> assertThat(entry)
                                .containsEntry("clientid", "c1")
                                .containsEntry("topic", "a/+")
                                .containsEntry("qos", 1));
                assertThat(entries(endpoint, "listeners", null))
                        .singleElement()
                        .satisfies(entry -> assertThat(entry)
                                .containsEntry("filter", "heard/#")
                                .containsEntry("active", true));
                assertThat(endpoint.part("cluster", null, null, null, null)).containsEntry("status", null);
                assertThat(endpoint.part("nothing", null, null, null, null)).isNull();
            }
        });
    }

    @Test
    void theEndpointCountsAllAndShowsAsManyAsAskedFor() {
        runner.run(context -> {
            SmqttEndpoint endpoint = context.getBean(SmqttEndpoint.class);
            try (RawClient first = Contexts.client(context);
                    RawClient second = Contexts.client(context)) {
                first.connect("c1");
                first.subscribe("a/+", 1);
                second.connect("c2");
                second.subscribe("a/b", 1);

                assertThat(endpoint.summary())
                        .containsEntry("node_status", "running")
                        .containsEntry("connections", 2)
                        .containsEntry("live_connections", 2)
                        .containsEntry("subscriptions", 2L);
                for (String part : List.of("clients", "subscriptions")) {
                    assertThat(endpoint.part(part, 1, null, null, null))
                            .containsEntry("meta", Map.of("limit", 1, "count", 2, "hasnext", true))
                            .extractingByKey("data")
                            .asInstanceOf(LIST)
                            .hasSize(1);
                }
            }
        });
    }

    /** An observation ends when its message is routed, and not with the next one. */
    @Configuration(proxyBeanMethods = false)
    static class Traced {

        final List<String> ended = new CopyOnWriteArrayList<>();

        @Bean
        ObservationRegistry observations() {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(new ObservationHandler<>() {
                @Override
                public boolean supportsContext(Observation.Context context) {
                    return context.getName().equals("smqtt.publish");
                }

                @Override
                public void onStop(Observation.Context context) {
                    ended.add(context.getLowCardinalityKeyValue("outcome").getValue());
                }
            });
            return registry;
        }

        @Bean
        MessageTracing tracing(ObservationRegistry observations) {
            return MessageTracing.of(observations, 1);
        }
    }

    @Test
    void aBeanThatTracesIsToldWhatBecomesOfMessages() {
        runner.withUserConfiguration(Traced.class).run(context -> {
            try (RawClient client = Contexts.client(context)) {
                client.connect("c1");
                client.publish("a", "x", 1);

                await().atMost(Duration.ofSeconds(30))
                        .untilAsserted(() ->
                                assertThat(context.getBean(Traced.class).ended).containsExactly("unmatched"));
            }
        });
    }

    @Test
    void theEndpointShowsOneClientAndExplainsAMessage() {
        runner.withUserConfiguration(Application.class).run(context -> {
            SmqttEndpoint endpoint = context.getBean(SmqttEndpoint.class);
            try (RawClient client = Contexts.client(context)) {
                client.connect("c1");
                client.subscribe("a/+", 1);

                assertThat(endpoint.part("client", null, null, null, "c1"))
                        .containsEntry("clientid", "c1")
                        .containsEntry("ip_address", "127.0.0.1")
                        .containsEntry("proto_ver", 5)
                        .containsEntry("subscriptions_cnt", 1)
                        .containsEntry("expiry_interval", 0L)
                        .containsEntry("durable", false);
                assertThat(endpoint.part("client", null, null, null, "other")).isNull();
                assertThat(endpoint.part("explain", null, null, "a/b", "c1"))
                        .containsEntry("topic", "a/b")
                        .containsEntry("clientId", "c1")
                        .extractingByKey("receivers")
                        .asString()
                        .contains("id=c1", "outcome=SENT");
            }
            assertThatThrownBy(() -> endpoint.part("explain", null, null, "a/#", null))
                    .isInstanceOf(InvalidEndpointRequestException.class);
            assertThatThrownBy(() -> endpoint.part("client", null, null, null, null))
                    .isInstanceOf(InvalidEndpointRequestException.class);
        });
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> entries(SmqttEndpoint endpoint, String part, String match) {
        return (List<Map<String, Object>>)
                endpoint.part(part, 5, match, null, null).get("data");
    }

    @Test
    void metersAreInTheRegistryOfTheApplication() {
        runner.withUserConfiguration(Application.class).run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            context.getBean(MqttTemplate.class).publish("heard/x", "x").block(Duration.ofSeconds(30));
            try (RawClient client = Contexts.client(context)) {
                client.connect("c1");
                client.publish("heard/x", "x", 1);

                assertThat(registry.get("smqtt.sessions.active").gauge().value())
                        .isEqualTo(2); // the client's and the listener's
                assertThat(registry.get("smqtt.spring.listener.messages")
                                .tag("outcome", "failed")
                                .functionCounter()
                                .count())
                        .isZero();
            }
            registry.counter("smqtt.of.the.application");
            assertThat(registry.find("jvm.memory.used").meter()).isNull();

            context.getBean(BrokerLifecycle.class).stop();

            assertThat(registry.find("smqtt.sessions.active").meter()).isNull();
        });
    }

    @Test
    void withoutManagementThereAreNoMeters() {
        runner.withUserConfiguration(Application.class)
                .withPropertyValues("smqtt.management.enabled=false")
                .run(context -> assertThat(context.getBean(MeterRegistry.class)
                                .find("smqtt.sessions.active")
                                .meter())
                        .isNull());
    }
}
