// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import io.smqtt.cluster.replication.Command.Change;
import io.smqtt.cluster.replication.Command.Enqueue;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** A stored session in the state machine of a group. */
final class SessionState {

    /**
     * A message in the queue.
     *
     * @param identifier its packet identifier, which grows and is not used again in the model
     * @param released whether PUBREC was received
     */
    record Queued(long identifier, Message message, boolean released) {}

    final String client;
    final List<Queued> queue = new ArrayList<>();
    final SortedSet<Long> dueWills = new TreeSet<>();
    private final SortedMap<Integer, Outcome.Known> received = new TreeMap<>();
    private final SortedMap<String, Long> taken = new TreeMap<>();
    private long nextIdentifier = 1;
    private long nextSequence = 1;
    long epoch;
    long sealedBy;
    long lastOperation;
    int server = -1;
    int serverLife;
    boolean will;

    SessionState(String client) {
        this.client = client;
    }

    /** A copy; with {@code withoutQos2} it lacks what QoS 2 needs. */
    SessionState copy(boolean withoutQos2) {
        SessionState copy = new SessionState(client);
        copy.queue.addAll(queue);
        copy.dueWills.addAll(dueWills);
        if (!withoutQos2) {
            copy.received.putAll(received);
            copy.taken.putAll(taken);
        }
        copy.nextIdentifier = nextIdentifier;
        copy.nextSequence = nextSequence;
        copy.epoch = epoch;
        copy.sealedBy = sealedBy;
        copy.lastOperation = lastOperation;
        copy.server = server;
        copy.serverLife = serverLife;
        copy.will = will;
        return copy;
    }

    /** Begins an epoch: with a client, or without one after the failure of its node, when the will becomes due. */
    void begin(Command.Install install) {
        if (install.server() < 0 && server >= 0 && will) {
            dueWills.add(epoch);
        }
        epoch = install.epoch();
        sealedBy = 0;
        lastOperation = 0;
        server = install.server();
        serverLife = install.life();
        will = install.will();
    }

    void enqueue(Enqueue command) {
        Message message = command.message();
        if (message.qos() == 2) {
            if (command.sequence() <= taken.getOrDefault(command.line(), 0L)) {
                return;
            }
            taken.put(command.line(), command.sequence());
        }
        queue.add(new Queued(nextIdentifier++, message, false));
    }

    Outcome change(Change change) {
        if (change instanceof Change.Receive receive) {
            return received.computeIfAbsent(
                    receive.identifier(), key -> new Outcome.Known(nextSequence++, receive.message()));
        }
        if (change instanceof Change.Release release) {
            received.remove(release.identifier());
        } else if (change instanceof Change.Received pubrec) {
            queue.replaceAll(queued -> queued.identifier() == pubrec.identifier()
                    ? new Queued(queued.identifier(), queued.message(), true)
                    : queued);
        } else if (change instanceof Change.Remove remove) {
            queue.removeIf(queued -> queued.identifier() == remove.identifier());
        } else if (change instanceof Change.Leave leave) {
            leave(leave.withoutWill());
        }
        return Outcome.ACCEPTED;
    }

    private void leave(boolean withoutWill) {
        if (will && !withoutWill) {
            dueWills.add(epoch);
        }
        will = false;
        server = -1;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SessionState state && toString().equals(state.toString());
    }

    @Override
    public int hashCode() {
        return Long.hashCode(epoch * 31 + sealedBy) + queue.hashCode() + received.hashCode() + taken.hashCode();
    }

    @Override
    public String toString() {
        return client + " epoch " + epoch + " sealed " + sealedBy + " server " + server + "/" + serverLife + " op "
                + lastOperation + " will " + will + " due " + dueWills + " next " + nextIdentifier + "/" + nextSequence
                + " queue " + queue + " received " + received + " taken " + taken;
    }
}
