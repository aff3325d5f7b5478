// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Two hosts, each a network namespace, with a link between them whose packets take their time and of which a share is lost. TCP sees what it
 * sees on such a line. Clients reach both hosts from here without it. Needs root, {@code ip} and {@code python3}.
 */
final class SlowLink implements AutoCloseable {

    private static final int HOSTS = 2;

    private final String name = "sl" + ProcessHandle.current().pid() % 100_000;
    private final String prefix = "10.214." + ProcessHandle.current().pid() % 250 + ".";
    private final Process process;

    /**
     * Makes the hosts and the link.
     *
     * @param directory for the script
     * @param delayMillis the delay in each direction
     * @param loss the share of packets that are lost in each direction
     * @param congestion the congestion control of TCP, such as {@code reno}; empty for that of this machine
     */
    SlowLink(Path directory, double delayMillis, double loss, String congestion) throws IOException {
        for (int i = 0; i < HOSTS; i++) {
            run("ip netns add " + space(i));
            run("ip link add " + cable(i) + " type veth peer name eth0 netns " + space(i));
            run("ip addr add " + prefix + (4 * i + 1) + "/30 dev " + cable(i));
            run("ip link set " + cable(i) + " up");
            run("ip -n " + space(i) + " addr add " + host(i) + "/30 dev eth0");
            run("ip -n " + space(i) + " link set eth0 up");
            run("ip -n " + space(i) + " link set lo up");
            if (!congestion.isEmpty()) {
                run("ip netns exec " + space(i) + " sysctl -qw net.ipv4.tcp_congestion_control=" + congestion);
            }
        }
        Path script = directory.resolve("slow-link.py");
        try (var in = SlowLink.class.getResourceAsStream("/slow-link.py")) {
            Files.write(script, in.readAllBytes());
        }
        process = new ProcessBuilder(
                        "python3",
                        script.toString(),
                        String.valueOf(delayMillis / 1_000),
                        String.valueOf(loss),
                        space(0),
                        far(0),
                        space(1),
                        far(1))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (!"ready".equals(process.inputReader().readLine())) {
            throw new IOException("the link did not start");
        }
    }

    private String space(int host) {
        return name + "n" + host;
    }

    private String cable(int host) {
        return name + "v" + host;
    }

    /** The address of a host from here. */
    String host(int host) {
        return prefix + (4 * host + 2);
    }

    /** The address of a host for the other one, over the link. */
    String far(int host) {
        return prefix + (100 + host);
    }

    /** The command that runs another one on a host. */
    List<String> on(int host) {
        return List.of("ip", "netns", "exec", space(host));
    }

    /** The congestion control of TCP. */
    String congestion() throws IOException {
        return run("ip netns exec " + space(0) + " sysctl -n net.ipv4.tcp_congestion_control")
                .strip();
    }

    /** Ends the link, and says how many packets have passed and how many of them were lost. */
    String end() throws IOException {
        process.getOutputStream().close();
        return process.inputReader().readLine();
    }

    private static String run(String command) throws IOException {
        Process run = new ProcessBuilder(new ArrayList<>(List.of(command.split(" "))))
                .redirectErrorStream(true)
                .start();
        String output = new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (!run.waitFor(30, TimeUnit.SECONDS) || run.exitValue() != 0) {
                throw new IOException(command + ": " + output);
            }
            return output;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        for (int i = 0; i < HOSTS; i++) {
            run("ip link del " + cable(i));
            run("ip netns del " + space(i));
        }
    }
}
