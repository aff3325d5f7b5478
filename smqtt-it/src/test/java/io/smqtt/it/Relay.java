// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Carries the bytes of one connection to the broker until it is cut: how a client's network breaks without a DISCONNECT. */
final class Relay implements AutoCloseable {

    private final ServerSocket server;
    private final int target;
    private final Socket outward = new Socket();
    private volatile Socket inward = new Socket();

    Relay(int targetPort) throws IOException {
        target = targetPort;
        server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    private void accept() throws IOException {
        inward = server.accept();
        outward.connect(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), target));
        start(() -> copy(inward, outward));
        copy(outward, inward);
    }

    private void copy(Socket from, Socket to) throws IOException {
        try (from; to) {
            from.getInputStream().transferTo(to.getOutputStream());
        }
    }

    private static void start(Pump pump) {
        Thread thread = new Thread(() -> {
            try {
                pump.run();
            } catch (IOException e) {
                // the end of either side ends the relay; what the client makes of it is the test's matter
            }
        }, "relay");
        thread.setDaemon(true);
        thread.start();
    }

    /** Closes both sides. */
    @Override
    public void close() throws IOException {
        server.close();
        inward.close();
        outward.close();
    }

    private interface Pump {
        void run() throws IOException;
    }
}
