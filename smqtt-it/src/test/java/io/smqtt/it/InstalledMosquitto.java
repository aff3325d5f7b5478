// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.stream.Stream;

/** The mosquitto of this machine: where its programs are, and when its broker is there. */
final class InstalledMosquitto {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private InstalledMosquitto() {}

    /** The path of one of its programs. */
    static String program(String name) {
        return Stream.concat(Stream.of(System.getenv("PATH").split(":")), Stream.of("/usr/sbin"))
                .map(folder -> new File(folder, name))
                .filter(File::canExecute)
                .findFirst()
                .map(File::getPath)
                .orElseThrow(() -> new AssertionError(
                        name + " is missing; `.ci/run` installs the packages mosquitto and mosquitto-clients"));
    }

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
