import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;

/**
 * Serves MongoDB's wire protocol on a port, from memory and a log: MongoServerMain PORT FILE. See {@link DurableBackend}.
 */
public class MongoServerMain {
    /** The library calls itself older (wire version 8) than today's clients accept. 4.4 is the least that they do. */
    static final class Version implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(4, 4, 0, 0);
        }

        @Override
        public int getWireVersion() {
            return 9;
        }
    }

    public static void main(String[] args) throws IOException {
        DurableBackend backend = new DurableBackend(Path.of(args[1]));
        backend.version(new Version());
        MongoServer server = new MongoServer(backend);
        // One thread: answers are encoded on it too, from the very documents that the next command may change.
        server.bind(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 1, 1);
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        System.out.println("ready on " + server.getConnectionString());
    }
}
