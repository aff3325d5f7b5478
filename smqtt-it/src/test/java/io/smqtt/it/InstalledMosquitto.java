// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;

/** The mosquitto of this machine: when its broker is there. */
final class InstalledMosquitto {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private InstalledMosquitto() {}

    /** Waits until its broker takes connections. */
    static void awaitListening(int port, CapturedProcess broker) {
        await().atMost(PATIENCE).until(() -> {
            assertThat(broker.process().isAlive()).as(broker.report()).isTrue();
            try (Socket socket = new Socket("127.0.0.1", port)) {
                return socket.isConnected();
            } catch (IOException e) {
                return false;
            }
        });
    }
}
