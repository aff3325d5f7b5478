// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.connection.RelayedConnection;
import java.io.ByteArrayInputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Facts about the connection of a client, from the front node for the node that serves the client.
 *
 * @param front the node-id of the front node
 * @param listener the name of its listener
 * @param remote the address of the client, resolved
 * @param local whether the client runs on the machine of the front node
 * @param tls whether the client uses TLS
 * @param webSocket whether it uses WebSocket
 * @param maxPacketBytes the limit of the listener; 0 for none of its own
 * @param sync what acknowledgements on the listener wait for
 * @param timeLeft the rest of the connect timeout
 * @param certificateUser the user name from the certificate, or null
 * @param certificate the certificate of the client, or null
 */
record RelayFacts(
        String front,
        String listener,
        InetSocketAddress remote,
        boolean local,
        boolean tls,
        boolean webSocket,
        int maxPacketBytes,
        ListenerConfig.Sync sync,
        Duration timeLeft,
        @Nullable String certificateUser,
        @Nullable X509Certificate certificate) {

    /** The version of these bytes. */
    private static final int VERSION = 1;

    /** The maximum size, length included: a certificate is much smaller. */
    static final int MAX_BYTES = 64 * 1024;

    private static final Pattern NAME = Pattern.compile("[\\p{Print}&&[^ /]]{1,255}");
    private static final int LOCAL = 1;
    private static final int TLS = 2;
    private static final int WEB_SOCKET = 4;
    private static final int USER = 8;
    private static final int CERTIFICATE = 16;

    /** The facts about a client of this node. */
    static RelayFacts of(String front, RelayedConnection client) {
        ListenerConfig listener = client.link().config();
        return new RelayFacts(
                front,
                client.link().listener(),
                client.link().remoteAddress(),
                client.link().local(),
                client.link().tls(),
                client.link().webSocket(),
                listener.maxPacketBytes(),
                listener.sync(),
                client.timeLeft(),
                client.link().certificateUser(),
                client.link().clientCertificate());
    }

    /**
     * The bytes, which begin with their number.
     *
     * @throws CertificateEncodingException if the certificate has no encoding, or too many bytes
     */
    byte[] encode() throws CertificateEncodingException {
        X509Certificate own = certificate;
        String user = certificateUser;
        byte[] encoded = own == null ? new byte[0] : own.getEncoded();
        int flags = (local ? LOCAL : 0)
                | (tls ? TLS : 0)
                | (webSocket ? WEB_SOCKET : 0)
                | (user == null ? 0 : USER)
                | (own == null ? 0 : CERTIFICATE);
        ByteWriter target = new ByteWriter(256 + encoded.length);
        target.i32(0).u8(VERSION).u8(flags).text(front).text(listener);
        target.block(remote.getAddress().getAddress()).number(remote.getPort());
        target.number(maxPacketBytes).u8(sync.ordinal()).number(Math.max(0, timeLeft.toMillis()));
        if (user != null) {
            target.text(user);
        }
        if (own != null) {
            target.block(encoded);
        }
        if (target.size() > MAX_BYTES) {
            throw new CertificateEncodingException("a certificate of " + encoded.length + " bytes");
        }
        target.putInt(0, target.size() - Integer.BYTES);
        return target.toByteArray();
    }

    /**
     * Reads the bytes behind their number.
     *
     * @throws MalformedBytesException if they are not those of a front node of this version
     */
    static RelayFacts decode(byte[] bytes) {
        ByteReader source = new ByteReader(bytes);
        int version = source.u8();
        if (version != VERSION) {
            throw new MalformedBytesException("version " + version + " of a relayed connection is not supported");
        }
        int flags = source.u8();
        String front = name(source.text());
        String listener = name(source.text());
        InetSocketAddress remote = new InetSocketAddress(address(source.byteArray()), source.number(65_535));
        int maxPacketBytes = source.number(Integer.MAX_VALUE);
        ListenerConfig.Sync[] all = ListenerConfig.Sync.values();
        int sync = source.u8();
        if (sync >= all.length) {
            throw new MalformedBytesException("there is no durability " + sync);
        }
        Duration timeLeft = Duration.ofMillis(source.number(Integer.MAX_VALUE));
        String user = (flags & USER) == 0 ? null : source.text();
        X509Certificate certificate = (flags & CERTIFICATE) == 0 ? null : certificate(source.byteArray());
        source.requireEnd();
        return new RelayFacts(
                front,
                listener,
                remote,
                (flags & LOCAL) != 0,
                (flags & TLS) != 0,
                (flags & WEB_SOCKET) != 0,
                maxPacketBytes,
                all[sync],
                timeLeft,
                user,
                certificate);
    }

    private static String name(String text) {
        if (!NAME.matcher(text).matches()) {
            throw new MalformedBytesException("not a name");
        }
        return text;
    }

    private static InetAddress address(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new MalformedBytesException("an address of " + bytes.length + " bytes");
        }
    }

    private static X509Certificate certificate(byte[] bytes) {
        try {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(bytes));
        } catch (CertificateException | RuntimeException e) { // of the reader of its bytes
            throw new MalformedBytesException("not a certificate");
        }
    }
}
