// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.spi.ClusterTransport.Refusal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SealedLinkTest {

    private static final byte[] WORDS = "what nobody else reads".getBytes(StandardCharsets.UTF_8);
    private static final SharedSecret SECRET = secret("the secret of all nodes");

    private final Socket dialling;
    private final Socket accepting;
    private final InputStream toAcceptor;
    private final InputStream toDialler;
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final OutputStream fromDialler;
    private final OutputStream fromAcceptor;

    SealedLinkTest() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            dialling = new Socket(server.getInetAddress(), server.getLocalPort());
            accepting = server.accept();
        }
        toAcceptor = accepting.getInputStream();
        toDialler = dialling.getInputStream();
        fromDialler = tee(dialling.getOutputStream(), said);
        fromAcceptor = accepting.getOutputStream();
    }

    @AfterEach
    void close() throws IOException {
        dialling.close();
        accepting.close();
    }

    private static SharedSecret secret(String text) {
        try {
            return new SharedSecret(text);
        } catch (java.security.GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static OutputStream tee(OutputStream one, OutputStream other) {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                one.write(b);
                other.write(b);
            }

            @Override
            public void write(byte[] b, int off, int len) throws IOException {
                one.write(b, off, len);
                other.write(b, off, len);
            }

            @Override
            public void flush() throws IOException {
                one.flush();
            }
        };
    }

    private CompletableFuture<SealedLink> accepting(SharedSecret secret) {
        CompletableFuture<SealedLink> link = new CompletableFuture<>();
        Thread acceptor = new Thread(() -> {
            try {
                link.complete(SealedLink.accept(secret, toAcceptor, fromAcceptor));
            } catch (IOException e) {
                try {
                    accepting.close();
                } catch (IOException closing) {
                    e.addSuppressed(closing);
                }
                link.completeExceptionally(e);
            }
        });
        acceptor.setDaemon(true);
        acceptor.start();
        return link;
    }

    @Test
    void whatOneEndSaysTheOtherOneHears() throws Exception {
        CompletableFuture<SealedLink> begun = accepting(SECRET);
        SealedLink dialler = SealedLink.dial(SECRET, toDialler, fromDialler);
        SealedLink acceptor = begun.get();

        Random random = new Random(7);
        for (int length : new int[] {1, 100, SealedLink.RECORD_BYTES, SealedLink.RECORD_BYTES + 1, 100_000}) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            dialler.output().write(bytes);
            dialler.output().flush();
            assertThat(acceptor.input().readNBytes(length)).isEqualTo(bytes);
            acceptor.output().write(bytes);
            acceptor.output().flush();
            assertThat(dialler.input().readNBytes(length)).isEqualTo(bytes);
        }
        fromDialler.flush();
    }

    @Test
    void whoHasAnotherSecretIsRefusedOnBothEnds() {
        CompletableFuture<SealedLink> begun = accepting(SECRET);

        assertThat(refusal(() -> SealedLink.dial(secret("another secret of strangers"), toDialler, fromDialler)))
                .isEqualTo(Refusal.AUTHENTICATION);
        assertThatThrownBy(begun::get)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        RefusedException.class, e -> assertThat(e.reason()).isEqualTo(Refusal.AUTHENTICATION));
    }

    private static Refusal refusal(ThrowableAssert.ThrowingCallable handshake) {
        return Assertions.catchThrowableOfType(RefusedException.class, handshake)
                .reason();
    }

    @Test
    void anEarlyEndIsNotTakenForAnotherSecret() throws IOException {
        ByteArrayOutputStream begin = new ByteArrayOutputStream();
        begin.write(new byte[] {'s', 'm', 'q', 1});
        begin.write(new byte[32]); // the number of the other end; its proof would come next
        for (int length = 1; length < begin.size() + 32; length++) {
            InputStream cut = new ByteArrayInputStream(Arrays.copyOf(begin.toByteArray(), length));
            assertThat(refusal(() -> SealedLink.accept(SECRET, cut, OutputStream.nullOutputStream())))
                    .as("the dialling end says %d bytes", length)
                    .isEqualTo(Refusal.ABORTED);
            cut.reset();
            assertThat(refusal(() -> SealedLink.dial(SECRET, cut, OutputStream.nullOutputStream())))
                    .as("the accepting end says %d bytes", length)
                    .isEqualTo(Refusal.ABORTED);
        }
    }

    @Test
    void aConnectionWithoutAByteIsNoHandshake() {
        InputStream nothing = InputStream.nullInputStream();

        assertThatThrownBy(() -> SealedLink.accept(SECRET, nothing, OutputStream.nullOutputStream()))
                .isInstanceOf(EOFException.class);
    }

    @Test
    void whatIsSaidIsHidden() throws Exception {
        CompletableFuture<SealedLink> begun = accepting(SECRET);
        SealedLink dialler = SealedLink.dial(SECRET, toDialler, fromDialler);
        begun.get();
        dialler.output().write(WORDS);
        dialler.output().flush();

        assertThat(said.toString(StandardCharsets.ISO_8859_1)).doesNotContain("nobody");
    }

    @Test
    void whatIsChangedLeftOutOrSaidAgainEndsTheConnection() throws Exception {
        for (int change = 0; change < 3; change++) {
            SealedLinkTest ends = new SealedLinkTest();
            ends.hearsNoneOf(change);
            ends.close();
        }
    }

    private void hearsNoneOf(int change) throws Exception {
        CompletableFuture<SealedLink> begun = accepting(SECRET);
        List<byte[]> records = new ArrayList<>();
        SealedLink dialler = SealedLink.dial(SECRET, toDialler, fromDialler);
        SealedLink acceptor = begun.get();
        OutputStream raw = fromDialler;
        for (int i = 0; i < 2; i++) { // taken off the wire
            said.reset();
            dialler.output().write(WORDS);
            dialler.output().flush();
            records.add(said.toByteArray());
        }
        assertThat(acceptor.input().readNBytes(2 * WORDS.length)).hasSize(2 * WORDS.length);
        said.reset();
        byte[] third = records.get(0);
        switch (change) {
            case 0 -> third = records.get(1); // said again
            case 1 -> third[3]--; // shorter than it was
            default -> third[third.length - 1] ^= 1;
        }
        raw.write(third);
        raw.flush();

        assertThatThrownBy(() -> acceptor.input().read()).isInstanceOf(RefusedException.class);
    }

    @Test
    void lengthsThatNoRecordHasTakeNoMemory() throws Exception {
        CompletableFuture<SealedLink> begun = accepting(SECRET);
        SealedLink.dial(SECRET, toDialler, fromDialler);
        SealedLink acceptor = begun.get();
        fromDialler.write(new byte[] {0x7F, -1, -1, -1});
        fromDialler.flush();

        assertThatThrownBy(() -> acceptor.input().read()).isInstanceOf(RefusedException.class);
    }

    @Test
    void nothingButItsOwnProtocolIsRead() {
        InputStream greeting = new ByteArrayInputStream("bela and what follows".getBytes(StandardCharsets.UTF_8));

        assertThatThrownBy(() -> SealedLink.accept(SECRET, greeting, OutputStream.nullOutputStream()))
                .isInstanceOf(RefusedException.class);
    }
}
