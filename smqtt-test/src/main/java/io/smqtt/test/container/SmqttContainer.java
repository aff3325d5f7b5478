// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.container;

import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;

/**
 * The broker's image ({@code deploy/docker}) in a container, for tests that need a broker outside of their own process. Clients get in
 * without a password, unless {@link #withPasswordFile} says otherwise. Started when the image's health check succeeds. Needs
 * {@code org.testcontainers:testcontainers} on the class path, which smqtt-test does not bring along.
 *
 * <pre>{@code
 * import io.smqtt.test.container.SmqttContainer;
 *
 * try (SmqttContainer broker = new SmqttContainer().withKey("limits.max-packet-bytes", "64KiB")) {
 *     broker.start();
 *     application.connect(broker.getHost(), broker.getMqttPort());
 * }
 * }</pre>
 */
public final class SmqttContainer extends GenericContainer<SmqttContainer> {

    /** The image without its tag. */
    public static final DockerImageName IMAGE = DockerImageName.parse("smqtt");

    private static final String TAG = "0.1.0";
    private static final int MQTT = 1883;
    private static final int WEB_SOCKET = 8083;
    private static final String PASSWORDS = "/etc/smqtt/passwords";
    private static final Duration START = Duration.ofMinutes(2);

    /** A container of the image with the version of this class. */
    public SmqttContainer() {
        this(IMAGE.withTag(TAG));
    }

    /**
     * A container of another image.
     *
     * @param image one that was built from {@code deploy/docker}; of another name it must say that it
     *     {@link DockerImageName#asCompatibleSubstituteFor stands for} {@link #IMAGE}
     * @throws IllegalStateException if it does not
     */
    public SmqttContainer(DockerImageName image) {
        super(image);
        image.assertCompatibleWith(IMAGE);
        withExposedPorts(MQTT, WEB_SOCKET);
        withKey("access.allow-anonymous", "true"); // clients come through the engine's network, not from loopback
        waitingFor(Wait.forHealthcheck().withStartupTimeout(START));
    }

    /**
     * Sets a key of the broker's configuration.
     *
     * @param key such as {@code limits.max-packet-bytes}
     * @param value as the configuration file has it
     * @return this
     */
    public SmqttContainer withKey(String key, String value) {
        return withEnv(variable(key), value);
    }

    private static String variable(String key) {
        return "SMQTT_" + key.replace(".", "__").replace('-', '_').toUpperCase(Locale.ROOT);
    }

    /**
     * Lets in only clients with a password.
     *
     * @param file made by {@code bin/smqtt passwd} or {@code mosquitto_passwd}
     * @return this
     */
    public SmqttContainer withPasswordFile(MountableFile file) {
        withCopyFileToContainer(file, PASSWORDS);
        withKey("access.password-file", PASSWORDS);
        return withKey("access.allow-anonymous", "false");
    }

    /**
     * The port of this machine that MQTT clients connect to.
     *
     * @return the one that the engine chose
     * @throws IllegalStateException if the container does not run
     */
    public int getMqttPort() {
        return getMappedPort(MQTT);
    }

    /**
     * The port of this machine that MQTT clients connect to by WebSocket.
     *
     * @return the one that the engine chose
     * @throws IllegalStateException if the container does not run
     */
    public int getWebSocketPort() {
        return getMappedPort(WEB_SOCKET);
    }

    /**
     * Where MQTT clients connect to.
     *
     * @return such as {@code mqtt://localhost:32768}
     * @throws IllegalStateException if the container does not run
     */
    public URI getUri() {
        return URI.create("mqtt://" + getHost() + ':' + getMqttPort());
    }
}
