// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.ClientInfo;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.ClientIdentity;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ControlPathsTest {

    /** Of the widest that a client can choose: each becomes one byte, six or three. */
    @ParameterizedTest
    @ValueSource(strings = {"a", "\u0001", "\u20ac", "\""})
    void anAnswerHasRoomForSoManyBytes(String character) {
        ControlPaths.Page page = page(2_000, character.repeat(20_000));

        String json = ControlPaths.json(page);

        assertThat(json.getBytes(StandardCharsets.UTF_8).length)
                .isLessThanOrEqualTo(ControlPaths.MOST_BYTES)
                .isGreaterThan(ControlPaths.MOST_BYTES / 2);
        assertThat(json).startsWith("{\"total\":2000,\"truncated\":true,\"clients\":[{");
    }

    @Test
    void asManyAsMayBeAskedForHaveRoomIfTheirNamesAreShort() {
        ControlPaths.Page page = page(ControlPaths.MOST, "device-".repeat(10));

        assertThat(ControlPaths.withinBytes(page.shown())).hasSize(ControlPaths.MOST);
        assertThat(ControlPaths.json(page)).startsWith("{\"total\":10000,\"truncated\":false,\"clients\":[{");
    }

    private static ControlPaths.Page page(int count, String text) {
        ControlPaths.Page page = new ControlPaths.Page(ControlPaths.MOST);
        ClientIdentity identity = new ClientIdentity(
                text, text, new InetSocketAddress("127.0.0.1", 1883), "tcp", ProtocolVersion.MQTT_5, Set.of());
        for (int i = 0; i < count; i++) {
            page.add(new ClientInfo(identity, true, 1, 1, 1));
        }
        return page;
    }
}
