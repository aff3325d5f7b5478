// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoopbackPortsTest {

    private static final int COUNT = 30;
    private static final int FIRST_OF_CONNECTIONS = 32_768; // of Linux, and the lowest of the usual ones

    @Test
    void portsAreFreeAndDifferAndAreNotThoseOfConnections() throws IOException {
        List<Integer> ports = new ArrayList<>(LoopbackPorts.some(COUNT));
        ports.addAll(LoopbackPorts.some(COUNT));

        assertThat(ports).hasSize(2 * COUNT).doesNotHaveDuplicates();
        assertThat(ports).allMatch(port -> port < FIRST_OF_CONNECTIONS);
        for (int port : ports) {
            bind(port);
        }
    }

    private static void bind(int port) throws IOException {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            assertThat(socket.getLocalPort()).isEqualTo(port);
        }
    }
}
