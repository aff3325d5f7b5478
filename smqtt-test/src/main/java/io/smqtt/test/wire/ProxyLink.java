// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One connection through the proxy: a socket on each side, a thread for each direction. */
final class ProxyLink {

    private static final int SMALL_BUFFER = 4_096;

    private final MqttProxy proxy;
    private final Socket client;
    private final Socket broker = new Socket();
    private final @Nullable RecordingLog log;
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private volatile boolean v5;
    private volatile boolean over;

    ProxyLink(MqttProxy proxy, Socket client, @Nullable RecordingLog log) {
        this.proxy = proxy;
        this.client = client;
        this.log = log;
    }

    void start(InetSocketAddress target) throws IOException {
        if (proxy.bytesPerSecond(Side.BROKER) != Integer.MAX_VALUE) {
            broker.setReceiveBufferSize(SMALL_BUFFER);
        }
        broker.connect(target);
        broker.setTcpNoDelay(true);
        client.setTcpNoDelay(true);
        threads.add(new Thread(new Direction(Side.CLIENT, client, broker), "mqtt-proxy-from-client"));
        threads.add(new Thread(new Direction(Side.BROKER, broker, client), "mqtt-proxy-from-broker"));
        for (Thread thread : threads) { // both are in the list before one can look at it
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Resets both sides. Any thread. */
    void cut() {
        over = true;
        reset(client);
        reset(broker);
        threads.forEach(Thread::interrupt);
        proxy.ended(this);
    }

    void join() throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException e) { // is closed
        }
        try {
            socket.close();
        } catch (IOException e) { // nothing more can be done
        }
    }

    /** One direction of a proxied connection. On a thread of its own. */
    private final class Direction implements Runnable, PacketInput.Pace {

        private final Side sender;
        private final Socket from;
        private final Socket to;
        private final List<Held> held = new ArrayList<>();
        private long passedBytes;
        private boolean receiverGone;

        Direction(Side sender, Socket from, Socket to) {
            this.sender = sender;
            this.from = from;
            this.to = to;
        }

        @Override
        public void run() {
            try {
                PacketInput input = new PacketInput(from.getInputStream(), this);
                OutputStream output = to.getOutputStream();
                for (byte[] bytes = input.next(); bytes != null; bytes = input.next()) {
                    if (sender == Side.CLIENT && WirePacket.isConnectOfV5(bytes)) {
                        v5 = true;
                    }
                    packet(new WirePacket(bytes, v5), output);
                }
                ended();
            } catch (IOException e) {
                ended();
            } catch (InterruptedException e) { // cut
            }
        }

        private void ended() {
            if (!over && log != null) {
                log.ended(receiverGone ? other(sender) : sender);
            }
            if (over || !proxy.isHalfOpen()) {
                over = true;
                close(client);
                close(broker);
                threads.forEach(thread -> {
                    if (thread != Thread.currentThread()) {
                        thread.interrupt();
                    }
                });
                proxy.ended(ProxyLink.this);
            }
        }

        private void packet(WirePacket packet, OutputStream output) throws IOException, InterruptedException {
            if (log != null) {
                log.packet(sender, packet.bytes());
            }
            if (proxy.isHalfOpen()) {
                return;
            }
            Fault fault = proxy.faultFor(sender, packet);
            if (fault instanceof Fault.Drop) {
                return;
            } else if (fault instanceof Fault.Reorder reorder) {
                held.add(new Held(packet, reorder.places()));
                return;
            } else if (fault instanceof Fault.Cut cut) {
                write(output, packet.bytes(), Math.min(cut.afterBytes(), packet.bytes().length));
                finish();
                return;
            } else if (fault instanceof Fault.Delay delay) {
                TimeUnit.NANOSECONDS.sleep(delay.by().toNanos());
            }
            pass(packet, output);
            if (fault instanceof Fault.Duplicate duplicate) {
                for (int i = 0; i < duplicate.extra(); i++) {
                    pass(packet, output);
                }
            }
        }

        /** Sends a packet, and those that were held back until it had passed. */
        private void pass(WirePacket packet, OutputStream output) throws IOException {
            send(packet, output);
            List<WirePacket> due = new ArrayList<>();
            for (Iterator<Held> each = held.iterator(); each.hasNext(); ) {
                Held next = each.next();
                if (--next.places == 0) {
                    each.remove();
                    due.add(next.packet);
                }
            }
            for (WirePacket next : due) {
                send(next, output);
            }
        }

        private void send(WirePacket packet, OutputStream output) throws IOException {
            long left = proxy.budget(sender) - passedBytes;
            if (left >= packet.bytes().length) {
                write(output, packet.bytes(), packet.bytes().length);
            } else {
                write(output, packet.bytes(), (int) Math.max(0, left));
                finish();
            }
        }

        private void write(OutputStream output, byte[] bytes, int count) throws IOException {
            try {
                output.write(bytes, 0, count);
            } catch (IOException e) {
                receiverGone = true;
                throw e;
            }
            passedBytes += count;
        }

        /** Ends the connection so that the receiver gets what was written. */
        private void finish() throws IOException {
            over = true;
            to.shutdownOutput();
            cutSender();
        }

        private void cutSender() throws IOException {
            reset(from);
            close(to);
            proxy.ended(ProxyLink.this);
            throw new IOException("cut");
        }

        @Override
        public void read(int bytes) throws InterruptedException {
            int perSecond = proxy.bytesPerSecond(sender);
            if (perSecond != Integer.MAX_VALUE) {
                TimeUnit.NANOSECONDS.sleep(TimeUnit.SECONDS.toNanos(bytes) / perSecond);
            }
        }

        @Override
        public int atMost() {
            return Math.max(1, proxy.bytesPerSecond(sender) / 20); // so that a change is noticed soon
        }
    }

    private static Side other(Side side) {
        return side == Side.CLIENT ? Side.BROKER : Side.CLIENT;
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) { // nothing more can be done
        }
    }

    /** A packet that others overtake. */
    private static final class Held {

        private final WirePacket packet;
        private int places;

        Held(WirePacket packet, int places) {
            this.packet = packet;
            this.places = places;
        }
    }
}
