// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoopbackPortsTest {

    private static final int COUNT = 60;
    private static final int BLOCK = 100;
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

    /** The first port of a block stays bound: it shows other JVMs that the block is taken. */
    @Test
    void aBlockBelongsToOneJvm() {
        for (int port : LoopbackPorts.some(2 * COUNT)) {
            assertThatThrownBy(() -> bind(port - port % BLOCK)).isInstanceOf(BindException.class);
        }
    }

    /** Another class loader stands for another JVM: it knows nothing of the ports that were handed out here. */
    @Test
    void anotherJvmTakesAnotherBlock() throws Exception {
        int own = LoopbackPorts.one();
        URL classes = LoopbackPorts.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader other = new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
            Class<?> ports = other.loadClass(LoopbackPorts.class.getName());
            assertThat(ports).isNotSameAs(LoopbackPorts.class);
            int port = (int) ports.getMethod("one").invoke(null);

            assertThat(port / BLOCK).isNotEqualTo(own / BLOCK);
            assertThatThrownBy(() -> bind(port - port % BLOCK)).isInstanceOf(BindException.class);
        }
    }

    private static void bind(int port) throws IOException {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            assertThat(socket.getLocalPort()).isEqualTo(port);
        }
    }
}
