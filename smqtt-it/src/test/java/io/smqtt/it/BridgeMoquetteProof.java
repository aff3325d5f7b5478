// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A bridge to a Moquette. Run by {@code smqtt-it/prove bridge-moquette}. */
class BridgeMoquetteProof extends BridgePeerProof {

    private static final String VERSION = "it does not speak MQTT 5.0, so set version to 3.1.1";

    static Stream<String> versions() {
        return Stream.of("3.1.1");
    }

    @Override
    JavaPeer peer(Path home, int port) throws IOException {
        return JavaPeer.moquette(home, port);
    }

    /** Moquette 0.17 answers a CONNECT of MQTT 5.0 with CONNACK 0x01. */
    @Test
    void aMoquetteThatDoesNotSpeakMqtt5IsOneClearLine() throws Exception {
        int port = LoopbackPorts.one();
        try (CapturedProcess moquette = peer(port);
                BrokerProcess broker = broker(port, "5")) {
            await().atMost(PATIENCE).until(() -> broker.output().stream().anyMatch(line -> line.contains(VERSION)));
            broker.output().stream()
                    .filter(line -> line.contains("bridge cloud"))
                    .forEach(System.out::println);
            assertThat(moquette.process().isAlive()).isTrue();
        }
    }
}
