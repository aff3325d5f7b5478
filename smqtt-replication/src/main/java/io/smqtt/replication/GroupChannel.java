// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.stack.Protocol;
import org.jgroups.stack.ProtocolStack;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One channel for all groups of a node. Each group has its two protocols in the stack, above those that make the channel reliable, with
 * numbers of its own in messages; so groups share connections, failure detection and ports.
 */
final class GroupChannel implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GroupChannel.class);
    private static final long RETRY_MILLIS = 250;

    private final JChannel channel;
    private final List<RaftGroup> groups;
    private final LeftOut leftOut;

    private GroupChannel(JChannel channel, LeftOut leftOut, List<RaftGroup> groups) {
        this.channel = channel;
        this.leftOut = leftOut;
        this.groups = groups;
    }

    /**
     * Creates a channel that is not connected.
     *
     * @param reliable protocols that connect, secure and order, the lowest one first, with {@code GMS} among them
     * @param node the name of this node
     * @param groups the groups of this node; closed with the channel
     */
    static GroupChannel create(List<Protocol> reliable, String node, List<RaftGroup> groups) throws Exception {
        return create(reliable, node, "", groups);
    }

    /**
     * Creates a channel that is not connected, and that refuses nodes with another configuration.
     *
     * @param agreement a text that must be the same on all nodes
     */
    static GroupChannel create(List<Protocol> reliable, String node, String agreement, List<RaftGroup> groups)
            throws Exception {
        return create(reliable, node, agreement, groups, ChannelPart.NONE);
    }

    /**
     * The same with a part that belongs to no group.
     *
     * @param node the place of this node, which is its name in groups
     */
    static GroupChannel create(
            List<Protocol> reliable, String node, String agreement, List<RaftGroup> groups, ChannelPart part)
            throws Exception {
        List<Protocol> protocols = new ArrayList<>(reliable);
        AgreementGuard guard = new AgreementGuard(agreement, other -> reason(groups, part, other));
        LeftOut leftOut = new LeftOut(guard, part);
        OwnNodes own = new OwnNodes(other -> guard.reason(other) != null, leftOut::viewed);
        protocols.add(own);
        protocols.add(new EntryMessages());
        groups.forEach(group -> protocols.addAll(group.protocols()));
        JChannel channel = new JChannel(protocols);
        GroupChannel made = new GroupChannel(channel, leftOut, groups);
        channel.getProtocolStack().insertProtocol(guard, ProtocolStack.Position.BELOW, GMS.class);
        channel.addAddressGenerator(() -> {
            ExtendedUUID address = ExtendedUUID.randomUUID(node).put(RAFT.raft_id_key, Util.stringToBytes(node));
            guard.describe(address);
            part.describe(address);
            groups.forEach(group -> group.describe(address));
            return address;
        });
        channel.setName(node);
        channel.setReceiver(new Receiver() {
            @Override
            public void viewAccepted(View view) {
                groups.forEach(group -> group.viewed(view));
            }

            @Override
            public void receive(Message message) {
                if (message instanceof BytesMessage bytes && bytes.hasArray()) {
                    deliver(groups, part, bytes);
                }
            }
        });
        groups.forEach(group -> group.linkedBy(
                (member, message) -> send(channel, member, GroupMessage.encode(group.number(), message))));
        part.linkedBy(new ChannelPart.NodeLink() {
            @Override
            public void send(Address other, PlaceMessage message) {
                GroupChannel.send(channel, other, PlaceMessage.encode(message));
            }

            @Override
            public @Nullable String reason(Address other) {
                return guard.reason(other);
            }

            @Override
            public void judgeAgain() {
                own.judgeAgain();
            }
        });
        return made;
    }

    private static @Nullable String reason(List<RaftGroup> groups, ChannelPart part, ExtendedUUID node) {
        String other = part.reason(node);
        if (other != null) {
            return other;
        }
        for (RaftGroup group : groups) {
            if (group.isForeign(node)) {
                return AgreementGuard.OTHER_CLUSTER;
            }
            if (group.isReplaced(node)) {
                return AgreementGuard.REPLACED_DISK;
            }
        }
        return null;
    }

    /** A connected node that has no part with this one, and why; null if there is none. */
    @Nullable
    String leftOut() {
        return leftOut.first;
    }

    /** Whether more than half of the connected nodes have no part with this one, so that it is this one which is wrong. */
    boolean isOutnumbered() {
        return leftOut.areMost;
    }

    private static void deliver(List<RaftGroup> groups, ChannelPart part, BytesMessage message) {
        byte[] bytes = new byte[message.getLength()];
        System.arraycopy(message.getArray(), message.getOffset(), bytes, 0, bytes.length);
        int number;
        try {
            number = GroupMessage.groupOf(bytes);
        } catch (MalformedBytesException e) {
            LOG.debug("a message of {} cannot be decoded: {}", message.getSrc(), e.getMessage());
            return;
        }
        if (number == PlaceMessage.NUMBER) {
            part.received(message.getSrc(), bytes);
        }
        for (RaftGroup group : groups) {
            if (group.number() == number) {
                group.received(message.getSrc(), bytes);
            }
        }
    }

    /** Without flow control, which would block the thread of a group: each message is an answer, or is sent once in a while. */
    private static void send(JChannel channel, Address node, byte[] message) {
        try {
            channel.send(new BytesMessage(node, message).setFlag(Message.Flag.NO_FC));
        } catch (Exception e) { // declared by the channel, which is not connected
            LOG.debug("a message to {} was not sent: {}", node, e.toString());
        }
    }

    /**
     * Joins the other nodes. Blocks. A node that was killed is refused until the others have noticed its end, so it tries again.
     *
     * @param patienceMillis maximum time for that
     */
    void connect(String cluster, long patienceMillis) throws Exception {
        long endNanos = System.nanoTime() + patienceMillis * 1_000_000;
        while (true) {
            try {
                channel.connect(cluster);
                return;
            } catch (Exception e) { // declared by the channel
                String reason = String.valueOf(
                        e.getCause() == null ? e.getMessage() : e.getCause().getMessage());
                String refusal = AgreementGuard.reasonIn(reason);
                if (refusal != null) {
                    throw new ConfigurationException(refusal);
                }
                boolean isRefused = e instanceof SecurityException || e.getCause() instanceof SecurityException;
                if (isRefused && System.nanoTime() - endNanos > 0) {
                    throw new ConfigurationException(
                            "cluster.node-id",
                            "is " + channel.getName() + ", and another node with that name is connected to the others: "
                                    + reason);
                }
                if (!isRefused) {
                    throw e;
                }
                LOG.info("the nodes do not admit this one yet: {}", e.getMessage());
                Util.sleep(RETRY_MILLIS);
            }
        }
    }

    /** Leaves the other nodes for good. The logs and the states of the groups stay open. Blocks. */
    void end() {
        groups.forEach(RaftGroup::end);
        channel.close();
    }

    /** Leaves the other nodes, when a group has failed. Blocks. */
    void leave() {
        channel.close();
        groups.forEach(RaftGroup::left);
    }

    @Override
    public void close() throws IOException {
        groups.forEach(RaftGroup::end);
        channel.close();
        for (RaftGroup group : groups) {
            group.close();
        }
    }

    /** The connected nodes that have no part with this one. */
    private static final class LeftOut {

        private final AgreementGuard guard;
        private final ChannelPart part;
        private volatile @Nullable String first;
        private volatile boolean areMost;

        LeftOut(AgreementGuard guard, ChannelPart part) {
            this.guard = guard;
            this.part = part;
        }

        void viewed(View view) {
            String found = null;
            int count = 0;
            Set<Address> doubles = OwnNodes.doubles(view, member -> guard.reason(member) != null);
            for (Address member : view.getMembersRaw()) {
                String reason = guard.reason(member);
                String name = GroupMembers.nameOf(member);
                if (doubles.contains(member)) {
                    found = "node " + name + ": another node has this cluster.node-id";
                } else if (reason != null) {
                    count++;
                    found = found == null ? "node " + (name == null ? member : name) + ": " + reason : found;
                }
            }
            if (found != null && !found.equals(first)) {
                LOG.error("left out is {}", found);
            }
            areMost = 2 * count > view.size();
            first = found;
            part.viewed(view);
        }
    }
}
