// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.netty.util.NetUtil;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.StorageConfig;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Authorization of requests to the management port. With a token file everything but health needs its token. Without one, which is
 * possible on loopback only, every local user can read the metrics and the cluster nodes. Everything else needs the token that the broker
 * creates in its data directory, readable for its own user only.
 */
@AnyThread
final class ManagementToken {

    /** The file of the token that the broker creates, in the data directory. */
    static final String FILE_NAME = "management.token";

    private static final Logger LOG = LoggerFactory.getLogger(ManagementToken.class);
    private static final String KEY = "management.token-file";
    private static final int MIN_LENGTH = 16;
    private static final int MAX_LENGTH = 4_096;
    private static final int MADE_BYTES = 32;
    private static final String SCHEME = "Bearer ";

    private final @Nullable Path given;
    private final @Nullable Path own;
    private volatile byte @Nullable [] token;

    private ManagementToken(@Nullable Path given, @Nullable Path own) {
        this.given = given;
        this.own = own;
        token = given == null ? null : read(given);
    }

    /** Reads the token file. Blocks. Without one only loopback is allowed. */
    static ManagementToken of(BrokerConfig config) {
        Path file = config.management().tokenFile();
        String host = config.management().host();
        if (file == null && !isLoopback(host)) {
            throw new ConfigurationException(
                    KEY, "must be set, because management.host is " + host + ", which is not a loopback address");
        }
        boolean keepsData = config.storage().kind() != StorageConfig.Kind.MEMORY;
        Path own = file == null && keepsData ? config.storage().dir().resolve(FILE_NAME) : null;
        return new ManagementToken(file, own);
    }

    /** Whether the port is bound to loopback only. */
    static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /** Creates the broker's own token if it is used, or reads that of an earlier start. Blocks. */
    void prepare() {
        Path file = own;
        if (file != null) {
            make(file);
            token = read(file);
        }
    }

    /** Renames the complete file, so that the name never has a part of the content, also after a crash. */
    private static void make(Path file) {
        if (isWhole(file)) {
            return; // of an earlier start
        }
        byte[] random = new byte[MADE_BYTES];
        new SecureRandom().nextBytes(random);
        byte[] line = (HexFormat.of().formatHex(random) + "\n").getBytes(StandardCharsets.US_ASCII);
        boolean posix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
        FileAttribute<?>[] forOwnerOnly = posix
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
        Path begun = file.resolveSibling(FILE_NAME + ".new");
        try {
            Files.deleteIfExists(begun);
            try (var channel = FileChannel.open(
                    begun, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), forOwnerOnly)) {
                channel.write(ByteBuffer.wrap(line));
                channel.force(true);
            }
            Files.move(begun, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new ConfigurationException(KEY, "must be set, because no token can be created in " + file + ": " + e);
        }
    }

    private static boolean isWhole(Path file) {
        try {
            return Files.isRegularFile(file) && Files.size(file) >= MIN_LENGTH;
        } catch (IOException e) {
            return false;
        }
    }

    private static void warnIfReadableByOthers(Path file) {
        try {
            if (Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ)) {
                LOG.warn("{} can be read by every user of this machine, who can then use the token", file);
            }
        } catch (UnsupportedOperationException | IOException e) {
            LOG.debug("permissions of {} are not known", file, e);
        }
    }

    private static byte[] read(Path file) {
        String text;
        warnIfReadableByOthers(file);
        try {
            text = Files.readString(file, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new ConfigurationException(KEY, "names a file that cannot be read: " + file);
        }
        boolean plain = text.length() >= MIN_LENGTH
                && text.length() <= MAX_LENGTH
                && text.chars().allMatch(c -> c > ' ' && c < 0x7f);
        if (!plain) {
            throw new ConfigurationException(
                    KEY,
                    "must have one line of " + MIN_LENGTH + " to " + MAX_LENGTH + " visible ASCII characters: " + file);
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads the token again. Blocks.
     *
     * @return the file, or null if there is none
     * @throws ConfigurationException if it cannot be used; then the old token stays
     */
    @Nullable
    Path reload() {
        Path file = given != null ? given : own;
        if (file != null) {
            token = read(file);
        }
        return file;
    }

    /** Whether there is a token: without one only metrics can be read. */
    boolean exists() {
        return token != null;
    }

    /** Whether a request has the token. The comparison takes constant time. */
    boolean accepts(@Nullable String authorization) {
        byte[] expected = token;
        if (expected == null
                || authorization == null
                || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            return false;
        }
        byte[] sent = authorization.substring(SCHEME.length()).strip().getBytes(StandardCharsets.UTF_8);
        return MessageDigest.isEqual(expected, sent);
    }

    /**
     * Whether a request without a token may read the metrics and the cluster nodes: on loopback, without a token file. The host must be an
     * address or localhost. Other names can resolve to this address, and a web page could make a local browser read the answer.
     *
     * @param host the Host header of the request, or null
     */
    boolean lookingIsFree(@Nullable String host) {
        if (given != null) {
            return false;
        }
        if (host == null) {
            return true;
        }
        int colon = host.lastIndexOf(':');
        String name = colon > host.lastIndexOf(']') ? host.substring(0, colon) : host;
        return name.equalsIgnoreCase("localhost")
                || NetUtil.isValidIpV4Address(name)
                || NetUtil.isValidIpV6Address(name);
    }
}
