// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Networks for processes on this machine, one for each node, all plugged into one bridge, so that each cable can be cut. They are reached from here.
 * Needs root and {@code ip}.
 */
class NodeSpaces implements AutoCloseable {

    /** A hardware address that no node has. */
    private static final String NO_HOST = "02:00:00:00:00:01";

    private static final AtomicInteger NETWORKS = new AtomicInteger();

    private final String name;
    private final String prefix;
    private final int count;

    /** Makes the networks of so many nodes. */
    NodeSpaces(int count) {
        this.count = count;
        long pid = ProcessHandle.current().pid();
        name = "sq" + pid % 100_000
                + (char) ('a' + NETWORKS.getAndIncrement() % 26); // links outlive their space a little
        prefix = "10.213." + pid % 250 + ".";
        ip("link", "add", bridge(), "type", "bridge");
        ip("addr", "add", prefix + "1/24", "dev", bridge());
        ip("link", "set", bridge(), "up");
        for (int i = 0; i < count; i++) {
            ip("netns", "add", space(i));
            ip("link", "add", cable(i), "type", "veth", "peer", "name", "eth0", "netns", space(i));
            ip("link", "set", cable(i), "master", bridge(), "up");
            inside(i, "ip", "addr", "add", host(i) + "/24", "dev", "eth0");
            inside(i, "ip", "link", "set", "eth0", "up");
            inside(i, "ip", "link", "set", "lo", "up");
        }
    }

    private String bridge() {
        return name;
    }

    private String space(int node) {
        return name + "n" + node;
    }

    private String cable(int node) {
        return name + "v" + node;
    }

    /** The address of a node. */
    final String host(int node) {
        return prefix + (10 + node);
    }

    /** The words before a command that is to run in the network of a node. */
    final List<String> wrapper(int node) {
        return List.of("ip", "netns", "exec", space(node));
    }

    /** The addresses of all nodes. */
    final List<String> hosts() {
        return IntStream.range(0, count).mapToObj(this::host).toList();
    }

    /** The interfaces on this side that all packets of the nodes pass. */
    final List<String> cables() {
        return IntStream.range(0, count).mapToObj(this::cable).toList();
    }

    private static String ip(String... arguments) {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments));
        return run(command);
    }

    /** Runs a command in the network of a node, and returns its output. */
    final String inside(int node, String... command) {
        List<String> all = new ArrayList<>(wrapper(node));
        all.addAll(List.of(command));
        return run(all);
    }

    private static String run(List<String> command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new AssertionError(command + ": " + output);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Pulls the cable of a node. */
    final void cut(int node) {
        ip("link", "set", cable(node), "down");
    }

    /** Plugs it in again. */
    final void heal(int node) {
        ip("link", "set", cable(node), "up");
    }

    /** Whether this process may make networks. */
    static boolean isAllowed() {
        try {
            ip("netns", "add", "sqprobe" + ProcessHandle.current().pid());
            ip("netns", "del", "sqprobe" + ProcessHandle.current().pid());
            return true;
        } catch (AssertionError | UncheckedIOException e) {
            return false;
        }
    }

    /** Gives the cable of a node a rate in each direction, such as {@code 4mbit}. */
    final void limit(int node, String rate) {
        String[] discipline = {"root", "handle", "1:", "htb", "default", "1"};
        String[] class1 = {"parent", "1:", "classid", "1:1", "htb", "rate", rate, "ceil", rate};
        run(words("tc qdisc add dev " + cable(node), discipline));
        run(words("tc class add dev " + cable(node), class1));
        inside(node, words("tc qdisc add dev eth0", discipline).toArray(String[]::new));
        inside(node, words("tc class add dev eth0", class1).toArray(String[]::new));
    }

    /** Takes that back. */
    final void unlimit(int node) {
        run(words("tc qdisc del dev " + cable(node) + " root"));
        inside(node, words("tc qdisc del dev eth0 root").toArray(String[]::new));
    }

    private static List<String> words(String first, String... more) {
        List<String> words = new ArrayList<>(List.of(first.split(" ")));
        words.addAll(List.of(more));
        return words;
    }

    /** Loses all packets from one node to another, unnoticed by their sender; the other way stays open. */
    final void mute(int from, int to) {
        inside(from, "ip", "neigh", "replace", host(to), "lladdr", NO_HOST, "nud", "permanent", "dev", "eth0");
    }

    /** Ends {@link #mute}. */
    final void unmute(int from, int to) {
        inside(from, "ip", "neigh", "del", host(to), "dev", "eth0");
    }

    /** Loses all packets between a node and the other ones, unnoticed by their senders. */
    final void isolate(int node) {
        IntStream.range(0, count).filter(other -> other != node).forEach(other -> {
            mute(node, other);
            mute(other, node);
        });
    }

    /** Ends {@link #isolate}. */
    final void rejoin(int node) {
        IntStream.range(0, count).filter(other -> other != node).forEach(other -> {
            unmute(node, other);
            unmute(other, node);
        });
    }

    /** Refuses all packets from one node to another: their sender gets an error. The other way stays open. */
    final void forbid(int from, int to) {
        inside(from, "ip", "route", "add", "blackhole", host(to) + "/32");
    }

    /** Ends {@link #forbid}. */
    final void permit(int from, int to) {
        inside(from, "ip", "route", "del", "blackhole", host(to) + "/32");
    }

    @Override
    public void close() {
        for (int i = 0; i < count; i++) {
            ip("netns", "del", space(i));
        }
        ip("link", "del", bridge());
    }
}
