// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkPage;
import io.smqtt.rules.sink.SinkSetting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

class ClusterClientsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    private static ClusterClients clients(String... pairs) {
        return new ClusterClients(context(Duration.ofSeconds(10), pairs));
    }

    private static SinkContext context(Duration timeout, String... pairs) {
        String[] all =
                Stream.concat(Stream.of("topic", "rows"), Stream.of(pairs)).toArray(String[]::new);
        SinkContext context = SinkContract.context(new KafkaSinkFactory(), message -> Mono.empty(), null, all);
        RuleActionConfig config = context.config().toBuilder().timeout(timeout).build();
        return new SinkContext("r", "a", config, context.settings(), context.publisher(), null);
    }

    /** The values as Kafka reads them. */
    private static ProducerConfig read(ClusterClients clients) {
        Map<String, Object> properties = new HashMap<>(clients.producerProperties());
        properties.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        properties.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        return new ProducerConfig(properties);
    }

    private String file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    @Test
    void theProducerIsIdempotentAndGivesUpBeforeTheAction() {
        ProducerConfig config = read(clients("bootstrap-servers", "a:9092, [::1]:9093", "compression", "zstd"));

        assertThat(config.getList("bootstrap.servers")).isEqualTo(List.of("a:9092", "[::1]:9093"));
        assertThat(config.getString("acks")).isEqualTo("-1");
        assertThat(config.getBoolean("enable.idempotence")).isTrue();
        assertThat(config.getString("client.id")).isEqualTo("smqtt-r-a");
        assertThat(config.getInt("delivery.timeout.ms"))
                .isEqualTo(6_000); // of 10 s, 2 s are for the way to the producer, and 1 s is max.block.ms
        assertThat(config.getInt("request.timeout.ms")).isEqualTo(3_000);
        assertThat(config.getLong("max.block.ms")).isEqualTo(1_000);
        assertThat(config.getLong("buffer.memory")).isEqualTo(16 << 20);
        assertThat(config.getInt("max.request.size")).isEqualTo(1 << 20);
        assertThat(config.getString("compression.type")).isEqualTo("zstd");
        assertThat(config.getString("security.protocol")).isEqualTo("PLAINTEXT");
    }

    @ParameterizedTest
    @CsvSource({"PT0.1S, 10ms", "PT0.1S, 1m", "PT2S, 1s", "PT15S, 1s", "PT15S, 1m", "PT10M, 1m"})
    void theProducerGivesUpBeforeTheAction(Duration timeout, String maxBlock) {
        SinkContext context = context(timeout, "bootstrap-servers", "a:9092", "max-block", maxBlock, "linger", "1s");
        ProducerConfig config = read(new ClusterClients(context));
        long delivery = config.getInt("delivery.timeout.ms");
        long longest = AttemptTimes.of(context).hand().toMillis() + config.getLong("max.block.ms") + delivery;

        assertThat(longest).isPositive().isLessThanOrEqualTo(timeout.toMillis() * 9 / 10);
        assertThat(config.getLong("linger.ms") + config.getInt("request.timeout.ms"))
                .isLessThanOrEqualTo(delivery); // as Kafka demands
    }

    @Test
    void timeoutThatIsTooShortIsRefused() {
        assertThatThrownBy(() -> new ClusterClients(context(Duration.ofMillis(99), "bootstrap-servers", "a:9092")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("rules.r.actions.a.timeout must be at least 100ms for Kafka");
    }

    @Test
    void probeTellsOfAClusterThatDoesNotAnswer() {
        SinkContext context = context(Duration.ofSeconds(1), "bootstrap-servers", "127.0.0.1:1");
        try (Sink sink = new KafkaSink(context, new ClusterClients(context))) {
            assertThatThrownBy(() -> sink.check().block(PATIENCE))
                    .hasMessage("no broker of the cluster has answered within 900 ms");
        }
    }

    @Test
    void theKeyOfARecordIsNoSecret() {
        assertThat(new KafkaSinkFactory().settings())
                .filteredOn(SinkSetting::isPlain)
                .extracting(SinkSetting::name)
                .containsExactly("key");
    }

    @Test
    void tlsAndSaslAreOfKafka() throws IOException {
        ClusterClients clients = clients(
                "bootstrap-servers", "a:9092",
                "tls", "true",
                "ca", file("ca.pem", "-----BEGIN CERTIFICATE-----"),
                "certificate", file("own.pem", "-----BEGIN CERTIFICATE----- own"),
                "private-key", file("key.pem", "-----BEGIN PRIVATE KEY-----"),
                "verify-host", "false",
                "sasl", "scram-sha-256",
                "username", "us\"er",
                "password-file", file("password", "pass\\word\nsecond line\n"));

        ProducerConfig config = read(clients);

        assertThat(config.getString("security.protocol")).isEqualTo("SASL_SSL");
        assertThat(config.getString("sasl.mechanism")).isEqualTo("SCRAM-SHA-256");
        assertThat(((Password) config.values().get("sasl.jaas.config")).value())
                .isEqualTo("org.apache.kafka.common.security.scram.ScramLoginModule required"
                        + " username=\"us\\\"er\" password=\"pass\\\\word\";");
        assertThat(config.values().get("ssl.truststore.type")).isEqualTo("PEM");
        assertThat(config.values().get("ssl.keystore.type")).isEqualTo("PEM");
        assertThat(config.getString("ssl.endpoint.identification.algorithm")).isEmpty();
        Files.writeString(folder.resolve("password"), "renewed");
        assertThat(((Password) read(clients).values().get("sasl.jaas.config")).value())
                .contains("password=\"renewed\"");
    }

    @Test
    void contradictionsAreFoundBeforeTheStart() throws IOException {
        String password = file("password", "secret");
        assertProblem("bootstrap-servers must be host:port", "bootstrap-servers", "kafka");
        assertProblem("ca needs tls: true", "bootstrap-servers", "a:1", "ca", password);
        assertProblem("ca is no file in PEM", "bootstrap-servers", "a:1", "tls", "true", "ca", password);
        assertProblem("username needs sasl", "bootstrap-servers", "a:1", "username", "u");
        assertProblem(
                "password-file must be set with sasl", "bootstrap-servers", "a:1", "sasl", "plain", "username", "u");
        assertProblem(
                "private-key must be set together",
                "bootstrap-servers",
                "a:1",
                "tls",
                "true",
                "certificate",
                file("own.pem", "-----BEGIN CERTIFICATE-----"));
        assertProblem(
                "buffer-memory must not be less than max-request-bytes",
                "bootstrap-servers",
                "a:1",
                "max-request-bytes",
                "32MiB");
    }

    private static void assertProblem(String problem, String... pairs) {
        assertThatThrownBy(() -> clients(pairs))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void aSinkOpensNoConnection() {
        int before = Thread.activeCount();
        KafkaSinkFactory factory = new KafkaSinkFactory();
        Sink sink = factory.open(SinkContract.context(
                factory, message -> Mono.empty(), null, "bootstrap-servers", "127.0.0.1:1", "topic", "rows"));

        assertThat(Thread.activeCount()).isEqualTo(before);
        sink.close();
    }

    @Test
    void theServiceLoaderFindsIt() {
        assertThat(ServiceLoader.load(SinkFactory.class))
                .extracting(SinkFactory::type)
                .contains("kafka");
    }

    @Test
    void pageHasTheKeys() throws IOException {
        SinkPage.assertHasKeysOf(List.of(new KafkaSinkFactory()));
    }
}
