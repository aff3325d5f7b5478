// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.hivemq.client.mqtt.MqttClient;
import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt5.Mqtt5BlockingClient;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Interception;
import io.smqtt.spi.PublishInterceptor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** The application, with a real client of MQTT and one of HTTP. */
@Timeout(120)
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"smqtt.listeners.tcp.host=127.0.0.1", "smqtt.listeners.tcp.port=0"})
class ApplicationTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Set<String> MQTT_THREADS = ConcurrentHashMap.newKeySet();
    private static final Set<String> HTTP_THREADS = ConcurrentHashMap.newKeySet();

    /** Looks at which threads serve whom. */
    @TestConfiguration
    static class Watch {

        @Bean
        PublishInterceptor mqttThreads() {
            return (ClientIdentity client, ApplicationMessage message) -> {
                MQTT_THREADS.add(Thread.currentThread().getName());
                return Mono.just(Interception.forward(message));
            };
        }

        @Bean
        WebFilter httpThreads() {
            return (exchange, chain) -> {
                HTTP_THREADS.add(Thread.currentThread().getName());
                return chain.filter(exchange);
            };
        }
    }

    @Autowired
    Environment environment;

    private Mqtt5BlockingClient client() {
        return MqttClient.builder()
                .useMqttVersion5()
                .serverHost("127.0.0.1")
                .serverPort(environment.getRequiredProperty("local.smqtt.tcp.port", Integer.class))
                .buildBlocking();
    }

    private WebClient http() {
        return WebClient.create("http://127.0.0.1:" + environment.getRequiredProperty("local.server.port"));
    }

    private Map<?, ?> get(String path) {
        return http().get().uri(path).retrieve().bodyToMono(Map.class).block(PATIENCE);
    }

    @Test
    void stateComesInAndCommandsGoOut() throws InterruptedException {
        Mqtt5BlockingClient device = client();
        device.connect();
        try (Mqtt5BlockingClient.Mqtt5Publishes commands = device.publishes(MqttGlobalPublishFilter.ALL)) {
            device.subscribeWith()
                    .topicFilter("devices/7/command")
                    .qos(MqttQos.AT_LEAST_ONCE)
                    .send();
            device.publishWith()
                    .topic("devices/7/state")
                    .qos(MqttQos.AT_LEAST_ONCE)
                    .payload("{\"color\":\"red\",\"level\":3}".getBytes(StandardCharsets.UTF_8))
                    .userProperties()
                    .add("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                    .applyUserProperties()
                    .send();

            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(get("/devices").toString()).isEqualTo("{7={color=red, level=3}}"));

            Integer reached = http().post()
                    .uri("/devices/7/command")
                    .contentType(MediaType.APPLICATION_JSON)
                    .bodyValue("{\"color\":\"blue\",\"level\":1}")
                    .retrieve()
                    .bodyToMono(Integer.class)
                    .block(PATIENCE);
            assertThat(reached).isEqualTo(1);
            assertThat(commands.receive(30, TimeUnit.SECONDS))
                    .hasValueSatisfying(command -> assertThat(new String(command.getPayloadAsBytes()))
                            .isEqualTo("{\"color\":\"blue\",\"level\":1}"));

            assertThat(get("/actuator/health").toString()).contains("smqtt={details={listeners=bound");
            assertThat(get("/actuator/smqtt/clients").toString()) // the device, and not the listener method
                    .contains("count=1", "connected=true");
            assertThat(get("/actuator/metrics/smqtt.sessions.active")).isNotEmpty();
            assertThat(get("/actuator/metrics/smqtt.publish").toString()).contains("outcome");
            assertThat(MQTT_THREADS).isNotEmpty();
            assertThat(HTTP_THREADS).isNotEmpty().doesNotContainAnyElementsOf(MQTT_THREADS);
        } finally {
            device.disconnect();
        }
    }
}
