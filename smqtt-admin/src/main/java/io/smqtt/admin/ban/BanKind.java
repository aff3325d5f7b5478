// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import io.netty.util.NetUtil;
import io.smqtt.access.AddressRange;
import io.smqtt.admin.InvalidFieldException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Locale;

/** What a ban compares. */
public enum BanKind {
    /** A client identifier. */
    CLIENTID,
    /** A user name. */
    USERNAME,
    /** An address. */
    PEERHOST,
    /** A regular expression that is found in the client identifier. */
    CLIENTID_RE,
    /** A regular expression that is found in the user name. */
    USERNAME_RE,
    /** A network, such as {@code 10.0.0.0/8}. */
    PEERHOST_NET;

    /**
     * Reads a name.
     *
     * @param text the name in the API
     * @return the kind
     * @throws InvalidFieldException if there is no such kind
     */
    public static BanKind of(String text) {
        for (BanKind kind : values()) {
            if (kind.text().equals(text)) {
                return kind;
            }
        }
        throw new InvalidFieldException("as must be one of "
                + Arrays.stream(values()).map(BanKind::text).toList());
    }

    /**
     * Returns the name.
     *
     * @return the name in the API
     */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Checks what is to be banned.
     *
     * @param who a text of this kind
     * @return the text in the form in which it is stored
     * @throws InvalidFieldException if it is not one of this kind
     */
    public String checked(String who) {
        if (who.isEmpty()) {
            throw new InvalidFieldException("who must not be empty");
        }
        return switch (this) {
            case CLIENTID, USERNAME -> who;
            case PEERHOST -> NetUtil.toAddressString(address(who));
            case CLIENTID_RE, USERNAME_RE -> BanPattern.of(who).text();
            case PEERHOST_NET -> network(who).toString();
        };
    }

    /** Whether bans of this kind are looked at one after the other. */
    boolean isPattern() {
        return ordinal() >= CLIENTID_RE.ordinal();
    }

    static InetAddress address(String who) {
        byte[] bytes = who.indexOf('%') < 0 ? NetUtil.createByteArrayFromIpAddressString(who) : null;
        if (bytes == null) {
            throw new InvalidFieldException("who must be an IP address");
        }
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes", e);
        }
    }

    static AddressRange network(String who) {
        AddressRange network = AddressRange.parse(who);
        if (network == null) {
            throw new InvalidFieldException("who must be a network such as 10.0.0.0/8");
        }
        return network;
    }
}
