// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Carries the bytes of one connection to the broker until it is cut: how a client's network breaks without a DISCONNECT. */
final class Relay implements AutoCloseable {

    private final ServerSocket server;
    private final int target;
    private final Socket outward = new Socket();
    private final CountDownLatch ended = new CountDownLatch(1);
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
        try (server) {
            inward = server.accept();
        }
        outward.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
        start(this::forward);
        try {
            outward.getInputStream().transferTo(inward.getOutputStream());
        } finally {
            close();
            ended.countDown();
        }
    }

    private void forward() throws IOException {
        inward.getInputStream().transferTo(outward.getOutputStream());
        outward.shutdownOutput();
    }

    /** Waits until the broker has closed its side, so that it has surely seen what the client sent last. */
    void awaitEnd() throws InterruptedException {
        if (!ended.await(20, TimeUnit.SECONDS)) {
            throw new AssertionError("the broker did not close the connection after DISCONNECT");
        }
    }

    private static void start(Pump pump) {
        Thread thread = new Thread(
                () -> {
                    try {
                        pump.run();
                    } catch (IOException e) {
                        // the end of either side ends the relay; what the client makes of it is the test's matter
                    }
                },
                "relay");
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
