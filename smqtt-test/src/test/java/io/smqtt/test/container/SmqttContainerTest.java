// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.github.dockerjava.api.exception.NotFoundException;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigKey;
import io.smqtt.config.ConfigSchema;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.wait.strategy.DockerHealthcheckWaitStrategy;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;

class SmqttContainerTest {

    private static final Path ROOT = Path.of("..");

    @Test
    void isMadeForTheImageThatIsDeployed() throws IOException {
        String dockerfile = Files.readString(ROOT.resolve("deploy/docker/Dockerfile"));
        try (SmqttContainer container = new SmqttContainer()) {
            assertThat(container.getImage().toString()).contains("imageName=smqtt:0.1.0");
            assertThat(Files.readString(ROOT.resolve("deploy/compose/compose.yaml")))
                    .contains("image: smqtt:0.1.0");
            String exposed = dockerfile
                    .lines()
                    .filter(line -> line.startsWith("EXPOSE "))
                    .findFirst()
                    .orElseThrow();
            assertThat(container.getExposedPorts())
                    .containsExactly(1883, 8083)
                    .allSatisfy(port -> assertThat(exposed).contains(" " + port));
            assertThat(dockerfile).contains("HEALTHCHECK ");
            assertThat(container).extracting("waitStrategy").isInstanceOf(DockerHealthcheckWaitStrategy.class);
        }
    }

    @Test
    void keysBecomeVariablesThatTheBrokerKnows() {
        Set<String> known = ConfigSchema.of(BrokerConfig.defaults()).describe().stream()
                .map(ConfigKey::name)
                .map(name ->
                        "SMQTT_" + name.replace(".", "__").replace('-', '_').toUpperCase(Locale.ROOT))
                .collect(Collectors.toSet());
        try (SmqttContainer container = new SmqttContainer().withKey("limits.max-packet-bytes", "64KiB")) {
            Map<String, String> open = Map.copyOf(container.getEnvMap());
            container.withPasswordFile(MountableFile.forHostPath(ROOT.resolve("pom.xml")));

            assertThat(open)
                    .containsOnly(
                            Map.entry("SMQTT_ACCESS__ALLOW_ANONYMOUS", "true"),
                            Map.entry("SMQTT_LIMITS__MAX_PACKET_BYTES", "64KiB"));
            assertThat(container.getEnvMap())
                    .containsEntry("SMQTT_ACCESS__ALLOW_ANONYMOUS", "false")
                    .containsEntry("SMQTT_ACCESS__PASSWORD_FILE", "/etc/smqtt/passwords");
            assertThat(known).containsAll(container.getEnvMap().keySet());
        }
    }

    @Test
    void imagesOfOtherBrokersAreRefused() {
        assertThatIllegalStateException()
                .isThrownBy(() -> new SmqttContainer(DockerImageName.parse("eclipse-mosquitto:2")));
        try (SmqttContainer own = new SmqttContainer(
                DockerImageName.parse("example/broker:7").asCompatibleSubstituteFor(SmqttContainer.IMAGE))) {
            assertThat(own.getImage().toString()).contains("imageName=example/broker:7");
        }
    }

    /** An engine runs, and has the image: BuildKit builds it, which Testcontainers does not use. */
    static boolean theImageIsThere() {
        if (!DockerClientFactory.instance().isDockerAvailable()) {
            return false;
        }
        try {
            DockerClientFactory.lazyClient().inspectImageCmd("smqtt:0.1.0").exec();
            return true;
        } catch (NotFoundException e) {
            return false;
        }
    }

    /** Something that speaks MQTT, in place of an application. */
    private static final class Application {

        void connect(String host, int port) {
            try (RawClient client = RawClient.to(new InetSocketAddress(host, port), ProtocolVersion.MQTT_5)) {
                client.connect("c");
                client.ping();
            }
        }
    }

    /** What {@code docs/testing.md} shows. */
    @Test
    @EnabledIf("theImageIsThere")
    void anApplicationConnects() {
        Application application = new Application();
        // snippet container
        try (SmqttContainer broker = new SmqttContainer().withKey("limits.max-packet-bytes", "64KiB")) {
            broker.start();
            application.connect(broker.getHost(), broker.getMqttPort());
        }
        // end
    }

    @Test
    @EnabledIf("theImageIsThere")
    void theUriNamesTheMappedPort() {
        try (SmqttContainer container = new SmqttContainer()) {
            container.start();
            assertThat(container.getUri().getPort()).isEqualTo(container.getMqttPort());
        }
    }
}
