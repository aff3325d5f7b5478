// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.thread.AnyThread;
import java.io.EOFException;
import java.io.IOException;
import java.io.InvalidObjectException;
import org.jgroups.Address;
import org.jgroups.Global;
import org.jgroups.Header;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.PingHeader;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NakAckHeader2;
import org.jgroups.util.Bits;
import org.jgroups.util.ByteArrayDataInputStream;

/**
 * Validates the bytes of the channel's protocols before the channel's library reads them, because the library allocates any length in
 * them: each count and length must fit into the remaining bytes, and each address must be of one of two kinds, or three in the channel for replicas. Allocates nothing.
 */
@AnyThread
final class WireGrammar {

    /** Maximum number of fragments of a message: a frame of 960 MiB. */
    static final int MAXIMUM_PIECES = 16_384;

    private static final int UUID_BYTES = 2 * Long.BYTES;
    private static final int MERGE_TYPES = 3;

    private static final int JOIN_VIEW = 1;
    private static final int JOIN_DIGEST = 1 << 1;
    private static final int JOIN_REASON = 1 << 2;
    private static final int JOIN_MERGE_VIEW = 1 << 3;

    /** A node with names: its class, then a number, and at most 255 keys with values. */
    private static final short NAMED_UUID = 12;

    private static final int MAXIMUM_NAMES = 64;
    private static final int RESULTS = 3;

    private final ByteArrayDataInputStream in;
    private final WireProfile profile;

    private WireGrammar(ByteArrayDataInputStream in, WireProfile profile) {
        this.in = in;
        this.profile = profile;
    }

    /** Validates a header whose class was read, and returns to its beginning. */
    static void header(short number, ByteArrayDataInputStream in, WireProfile profile) throws IOException {
        int from = in.position();
        new WireGrammar(in, profile).header(number);
        back(in, from);
    }

    /** Validates an address, and returns to its beginning. */
    static void address(ByteArrayDataInputStream in, WireProfile profile) throws IOException {
        int from = in.position();
        new WireGrammar(in, profile).address();
        back(in, from);
    }

    /** Validates a digest with its members, and returns to its beginning. */
    static void digest(ByteArrayDataInputStream in, WireProfile profile) throws IOException {
        int from = in.position();
        new WireGrammar(in, profile).digest(true);
        back(in, from);
    }

    /** Validates a list of sequence numbers, and returns to its beginning. */
    static void sequenceNumbers(ByteArrayDataInputStream in) throws IOException {
        int from = in.position();
        WireGrammar list = new WireGrammar(in, WireProfile.CLUSTER);
        int bits = in.readInt();
        list.skip(Long.BYTES);
        refuseIf(bits < 0 || (bits + (long) Long.SIZE - 1) / Long.SIZE > in.available() / Long.BYTES, "size", bits);
        back(in, from);
    }

    /** Validates the bytes of a message that the protocol of a header reads. */
    static void payload(Header header, byte[] bytes, WireProfile profile) throws IOException {
        boolean isRead =
                header instanceof PingHeader || header instanceof GMS.GmsHeader || header instanceof MERGE3.MergeHeader;
        if (!isRead || bytes.length == 0) {
            return;
        }
        WireGrammar payload = new WireGrammar(new ByteArrayDataInputStream(bytes), profile);
        if (header instanceof PingHeader) {
            payload.nodes();
        } else if (header instanceof GMS.GmsHeader membership) {
            payload.membership(membership.getType());
        } else if (payload.in.readBoolean()) {
            payload.view();
        }
    }

    private static void back(ByteArrayDataInputStream in, int from) {
        if (in.position() != from) { // the library does not accept the end as a position
            in.position(from);
        }
    }

    private void header(short number) throws IOException {
        switch (number) {
            case 52 -> { // a fragment of a message
                Bits.readLongCompressed(in);
                int piece = Bits.readIntCompressed(in);
                int pieces = Bits.readIntCompressed(in);
                refuseIf(pieces < 1 || pieces > MAXIMUM_PIECES, "count of pieces", pieces);
                refuseIf(piece < 0 || piece >= pieces, "piece", piece);
            }
            case 53 -> { // discovery
                skip(1);
                text();
            }
            case 55 -> { // membership
                skip(1);
                short flags = in.readShort();
                address();
                if ((flags & GMS.GmsHeader.MERGE_ID_PRESENT) != 0) {
                    address();
                }
            }
            case 56 -> { // stable messages
                skip(1);
                optionalViewId();
            }
            case 60 -> { // name of the cluster
                int length = in.readShort();
                refuseIf(length > in.available(), "length", length);
            }
            case 75 -> { // merging
                byte type = in.readByte();
                refuseIf(type < 0 || type >= MERGE_TYPES, "type", type);
                optionalViewId();
                text();
                address();
            }
            case 78 -> { // messages to all
                if (in.readByte() == NakAckHeader2.XMIT_REQ) {
                    address();
                }
            }
            case 94 -> { // suspicion
                skip(Short.BYTES);
                address();
            }
            case WireProfile.LEADER -> {
                Bits.readLongCompressed(in);
                address();
            }
            case WireProfile.ENTRIES -> {
                Bits.readLongCompressed(in);
                address();
            }
            case WireProfile.ENTRIES_ANSWER -> {
                Bits.readLongCompressed(in);
                if (in.readBoolean()) {
                    int result = Bits.readIntCompressed(in);
                    refuseIf(result < 0 || result >= RESULTS, "result", result);
                }
            }
            default -> {
                // numbers only
            }
        }
    }

    private void membership(byte type) throws IOException {
        switch (type) {
            case GMS.GmsHeader.JOIN_RSP -> {
                if (in.readBoolean()) {
                    answerToJoin();
                }
            }
            case GMS.GmsHeader.VIEW,
                    GMS.GmsHeader.MERGE_RSP,
                    GMS.GmsHeader.INSTALL_MERGE_VIEW,
                    GMS.GmsHeader.INSTALL_DIGEST,
                    GMS.GmsHeader.GET_DIGEST_RSP -> viewAndDigest();
            case GMS.GmsHeader.MERGE_REQ -> addresses();
            case GMS.GmsHeader.GET_CURRENT_VIEW -> optionalViewId();
            default -> {
                // is not read
            }
        }
    }

    private void answerToJoin() throws IOException {
        byte flags = in.readByte();
        if ((flags & JOIN_MERGE_VIEW) != 0) {
            mergeView();
        } else if ((flags & JOIN_VIEW) != 0) {
            view();
        }
        if ((flags & JOIN_DIGEST) != 0) {
            digest(false);
        }
        if ((flags & JOIN_REASON) != 0) {
            utf();
        }
    }

    private void viewAndDigest() throws IOException {
        short flags = in.readShort();
        if ((flags & GMS.VIEW_PRESENT) != 0) {
            if ((flags & GMS.MERGE_VIEW) != 0) {
                mergeView();
            } else if ((flags & GMS.DELTA_VIEW) != 0) {
                viewId();
                viewId();
                addresses();
                addresses();
            } else {
                view();
            }
        }
        if ((flags & GMS.DIGEST_PRESENT) != 0) {
            digest((flags & GMS.READ_ADDRS) != 0);
        }
    }

    /** A list of members: their number, and for each its address, flags, name, physical address, and its members. */
    private void nodes() throws IOException {
        int count = in.readInt();
        refuseIf(count < 0 || count > in.available(), "count of nodes", count);
        for (int i = 0; i < count; i++) {
            address();
            skip(1);
            text();
            address();
            addresses();
        }
    }

    private void view() throws IOException {
        viewId();
        addresses();
    }

    private void mergeView() throws IOException {
        view();
        int parts = count();
        for (int i = 0; i < parts; i++) {
            member();
            skip(Long.BYTES);
            int members = count();
            refuseIf(members < 0, "count of members", members);
            for (int j = 0; j < members; j++) {
                member();
            }
        }
    }

    /** Its number in the view, or an address. */
    private void member() throws IOException {
        if (in.readShort() < 0) {
            address();
        }
    }

    private void digest(boolean withAddresses) throws IOException {
        int count;
        if (withAddresses) {
            count = addresses();
        } else {
            count = count();
        }
        refuseIf(count < 0, "count of members", count);
        for (int i = 0; i < count; i++) { // two numbers, whose lengths are the halves of a byte
            int lengths = in.readByte();
            skip((lengths >> 4 & 0xF) + (lengths & 0xF));
        }
    }

    private int addresses() throws IOException {
        int count = count();
        for (int i = 0; i < count; i++) {
            address();
        }
        return count;
    }

    /** Reads the number of elements with at least one byte each; negative if there is no list. */
    private int count() throws IOException {
        int count = in.readShort();
        refuseIf(count > in.available(), "count", count);
        return count;
    }

    private void optionalViewId() throws IOException {
        if (in.readBoolean()) {
            viewId();
        }
    }

    private void viewId() throws IOException {
        address();
        Bits.readLongCompressed(in);
    }

    private void text() throws IOException {
        if (in.readByte() == 1) {
            utf();
        }
    }

    private void utf() throws IOException {
        skip(in.readUnsignedShort());
    }

    /** Accepts no address, that of a node, or a network address: other kinds have their own lengths, or are classes named in the bytes. */
    private void address() throws IOException {
        byte kind = in.readByte();
        switch (kind) {
            case Address.NULL -> {
                // nothing
            }
            case Address.UUID_ADDR -> skip(UUID_BYTES);
            case Address.IP_ADDR -> {
                int length = in.readByte();
                refuseIf(
                        length != 0 && length != Global.IPV4_SIZE && length != Global.IPV6_SIZE,
                        "length of an address",
                        length);
                skip(length + (length == Global.IPV6_SIZE ? Integer.BYTES : 0) + Short.BYTES);
            }
            default -> {
                refuseIf(kind != 0 || profile != WireProfile.REPLICAS, "kind of address", kind);
                named();
            }
        }
    }

    private void named() throws IOException {
        short type = in.readShort();
        refuseIf(type != NAMED_UUID, "class of an address", type);
        skip(UUID_BYTES);
        Bits.readIntCompressed(in);
        int names = in.readUnsignedByte();
        refuseIf(names > MAXIMUM_NAMES, "count of names", names);
        for (int i = 0; i < names; i++) {
            skip(in.readUnsignedByte());
            skip(in.readUnsignedByte());
        }
    }

    private void skip(int bytes) throws IOException {
        if (bytes > in.available()) {
            throw new EOFException();
        }
        in.skip(bytes);
    }

    /** Fails on a value that no node sends. */
    static void refuseIf(boolean condition, String what, int value) throws InvalidObjectException {
        if (condition) {
            throw new InvalidObjectException(what + " " + value + " is not for this channel");
        }
    }
}
