import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.bson.BsonDecoder;
import de.bwaldvogel.mongo.wire.bson.BsonEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * A file of commands, each with its length and checksum. What was appended is with the kernel: it outlives the process,
 * however that ends, but not the machine's power, since nothing waits for the disk.
 */
final class CommandLog {
    /** Commands bring their documents in a list, which may be longer together than one document may be. */
    private static final List<String> LISTS = List.of("documents", "updates", "deletes");
    private static final int HEADER = 8;
    /** More than any message of the protocol. */
    private static final int MAX_RECORD = 128 << 20;

    private final RandomAccessFile file;
    private final ByteBuf buffer = Unpooled.buffer(1 << 16);
    private long length;

    private CommandLog(Path path) throws IOException {
        file = new RandomAccessFile(path.toFile(), "rw");
        file.setLength(0);
    }

    /** Begins a new log that takes the place of the one at the path, once what `first` appends is in it. */
    static CommandLog replacing(Path path, Consumer<CommandLog> first) throws IOException {
        Path temporary = path.resolveSibling(path.getFileName() + ".new");
        CommandLog log = new CommandLog(temporary);
        first.accept(log);
        Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
        return log;
    }

    long length() {
        return length;
    }

    void close() throws IOException {
        file.close();
    }

    /** The command is in the file when this returns; when it throws, nothing of it is. */
    void append(Document command) {
        buffer.clear().writeZero(HEADER);
        String list = LISTS.stream().filter(name -> command.get(name) instanceof List).findFirst().orElse(null);
        if (list == null) {
            BsonEncoder.encodeDocument(command, buffer);
        } else {
            Document body = command.clone();
            body.put(list, null);
            BsonEncoder.encodeDocument(body, buffer);
            for (Object document : (List<?>) command.get(list)) {
                BsonEncoder.encodeDocument((Document) document, buffer);
            }
        }
        int size = buffer.writerIndex() - HEADER;
        buffer.setInt(0, size).setInt(4, checksum(buffer.array(), HEADER, size));
        try {
            file.write(buffer.array(), 0, HEADER + size);
            length += HEADER + size;
        } catch (IOException error) {
            cutBack();
            throw new IllegalStateException("the log takes no more: " + error.getMessage(), error);
        }
        if (buffer.capacity() > 1 << 24) {
            buffer.clear().capacity(1 << 16);
        }
    }

    private void cutBack() {
        try {
            file.setLength(length);
            file.seek(length);
        } catch (IOException error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    /**
     * Reads the commands of the file in their order. A last one that is not complete was never acknowledged, and is left out.
     *
     * @throws IOException when a complete one is damaged
     */
    static void replay(Path path, Consumer<Document> each) throws IOException {
        if (!Files.exists(path)) {
            return;
        }
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(path), 1 << 16))) {
            for (byte[] record = next(in); record != null; record = next(in)) {
                each.accept(decode(record));
            }
        }
    }

    private static byte[] next(DataInputStream in) throws IOException {
        try {
            int size = in.readInt();
            int checksum = in.readInt();
            if (size < 0 || size > MAX_RECORD) {
                throw new IOException("the log is damaged: a record of " + size + " bytes");
            }
            byte[] record = in.readNBytes(size);
            if (record.length < size) {
                return null;
            }
            if (checksum(record, 0, size) != checksum) {
                throw new IOException("the log is damaged: a record's checksum is wrong");
            }
            return record;
        } catch (EOFException end) {
            return null;
        }
    }

    private static Document decode(byte[] record) {
        ByteBuf bytes = Unpooled.wrappedBuffer(record);
        Document command = BsonDecoder.decodeBson(bytes);
        List<Object> documents = new java.util.ArrayList<>();
        while (bytes.isReadable()) {
            documents.add(BsonDecoder.decodeBson(bytes));
        }
        LISTS.stream().filter(command::containsKey).findFirst().ifPresent(list -> command.put(list, documents));
        return command;
    }

    private static int checksum(byte[] bytes, int offset, int length) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes, offset, length);
        return (int) checksum.getValue();
    }
}
